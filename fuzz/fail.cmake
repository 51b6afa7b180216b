# The calls that come to fail.c first, as the linker knows them.
set(FAILING malloc calloc realloc aligned_alloc read write fsync poll open open64 openat openat64 stat stat64 lstat
  lstat64 fstat fstat64 realpath getentropy fchown fchmod renameat mmap mmap64)
list(TRANSFORM FAILING PREPEND "-Wl,--wrap=" OUTPUT_VARIABLE FAIL_LINK)

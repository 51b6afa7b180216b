# Libraries that are loaded when they are needed, and are not there: a file of that name which is no
# library, or one without what is called.
. "${BASH_SOURCE%/*}/lib.sh"

printf 'a\nb\n' >keys
gzip -k keys
zstd -q keys
xz -k keys
echo '<graphml><graph/></graphml>' >net.graphml
printf '\xd4\xc3\xb2\xa1' >packets.pcap
"$tepal" build keys -o f --seed 1 -q
names=(libz.so.1 libzstd.so.1 liblzma.so.5 libexpat.so.1 libpcap.so.0.8 libpcap.so.1 libpcap.so
    libssl.so.3)

for sort in empty strange; do
    mkdir "$work/$sort"
    for name in "${names[@]}"; do
        case $sort in
        empty) : >"$work/$sort/$name" ;;
        strange) cp "$(ldd "$tepal" | awk '/libm\.so/ { print $3 }')" "$work/$sort/$name" ;;
        esac
    done
    without() { LD_LIBRARY_PATH=$work/$sort "$@"; }
    expect "$sort: what needs none" 0 $'a\nb\n' '' without "$tepal" query f keys
    refused "$sort: gzip" 'keys.gz: gzip data are read with libz.so.1, which is not installed' \
        without "$tepal" query f keys.gz
    refused "$sort: zstd" 'keys.zst: zstd data are read with libzstd.so.1, which is not installed' \
        without "$tepal" query f keys.zst
    refused "$sort: xz" 'keys.xz: xz data are read with liblzma.so.5, which is not installed' \
        without "$tepal" query f keys.xz
    refused "$sort: to gzip" 'libz.so.1: not installed, and needed to compress; nothing was written' \
        without "$tepal" convert f -o - --compress gzip
    refused "$sort: to zstd" 'libzstd.so.1: not installed, and needed to compress; nothing was written' \
        without "$tepal" convert f -o g --compress zstd
    is "$sort: and nothing is written" "$(ls g 2>&1)" "ls: cannot access 'g': No such file or directory"
    refused "$sort: GraphML" 'net.graphml: GraphML is read with libexpat.so.1, which is not installed' \
        without "$tepal" app route net.graphml --from a --to b
    refused "$sort: captures" 'packets.pcap: captures are read with libpcap, which is not installed' \
        without "$tepal" app flows packets.pcap
    expect "$sort: with them, keys are read again" 0 $'a\nb\n' '' "$tepal" query f keys.gz
done

finish

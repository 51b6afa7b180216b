// BF.* and CF.* through node-redis 5 (RESP2 and RESP3) and ioredis.
// Usage: node clients.js PORT. The packages are found in the working directory.
'use strict';
const { createRequire } = require('module');
const assert = require('assert');
const here = createRequire(process.cwd() + '/');
const port = Number(process.argv[2]);
let passed = 0;
let failed = 0;

function equal(what, got, want) {
    try {
        assert.deepStrictEqual(got, want);
        passed++;
    } catch (problem) {
        failed++;
        console.log('not ok: %s\n%s', what, problem.message);
    }
}

async function fails(what, text, promise) {
    let got;
    try {
        got = 'no error: ' + JSON.stringify(await promise);
    } catch (problem) {
        got = problem.message;
    }
    equal(what, got.includes(text) || got, true);
}

async function chunks(scan) {
    const all = [];
    for (let at = 0; ;) {
        const { iterator, chunk } = await scan(at);
        if (Number(iterator) === 0) {
            return all;
        }
        all.push([iterator, chunk]);
        at = iterator;
    }
}

// The facts but the size: a filter that has grown takes a little more than one that was loaded.
const without = ({ Size, ...facts }) => ({ ...facts });
const sequence = (from, to) => Array.from({ length: to - from }, (_, i) => 'k' + (from + i));

// node-redis knows each command and gives the same answers in both protocols.
async function nodeRedis(RESP) {
    const { createClient, RESP_TYPES } = here('@redis/client');
    const client = createClient({
        RESP, socket: { host: '127.0.0.1', port }, modules: here('@redis/bloom').default,
    });
    client.on('error', (problem) => { throw problem; });
    await client.connect();
    const { bf, cf } = client;
    const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const name = (text) => `RESP${RESP}: ${text}`;
    await client.flushAll();

    equal(name('bf reserve'), await bf.reserve('b', 0.01, 1000), 'OK');
    await fails(name('bf reserve again'), 'item exists', bf.reserve('b', 0.01, 1000));
    equal(name('bf add'), [await bf.add('b', 'x'), await bf.add('b', 'x')], [true, false]);
    equal(name('bf madd'), await bf.mAdd('b', ['x', 'y', 'z']), [false, true, true]);
    equal(name('bf exists'), [await bf.exists('b', 'y'), await bf.exists('b', 'none')], [true, false]);
    equal(name('bf mexists'), await bf.mExists('b', ['x', 'none', 'z']), [true, false, true]);
    equal(name('bf card'), [await bf.card('b'), await bf.card('none')], [3, 0]);
    equal(name('bf insert'), await bf.insert('i', ['x', 'y', 'x'],
        { CAPACITY: 500, ERROR: 0.001, EXPANSION: 4 }), [true, true, false]);
    await fails(name('bf nocreate'), 'not found', bf.insert('none', 'x', { NOCREATE: true }));
    equal(name('bf info'), without(await bf.info('b')), {
        Capacity: 1000, 'Number of filters': 1, 'Number of items inserted': 3, 'Expansion rate': 2,
    });
    equal(name('bf size'), (await bf.info('b')).Size > 1000, true);
    await bf.reserve('full', 0.01, 3, { NONSCALING: true });
    await bf.mAdd('full', ['1', '2', '3']);
    await fails(name('bf full'), 'non scaling filter is full', bf.add('full', '4'));
    equal(name('bf does not scale'), (await bf.info('full'))['Expansion rate'], null);
    await bf.reserve('grows', 0.01, 100, { EXPANSION: 2 });
    await bf.mAdd('grows', sequence(0, 5000));
    equal(name('bf grows'), (await bf.info('grows'))['Number of filters'] > 3, true);
    equal(name('bf grown'), (await bf.mExists('grows', sequence(0, 5000))).every(Boolean), true);
    await fails(name('bf wrong type'), 'WRONGTYPE', cf.add('b', 'x'));

    const dump = await chunks((at) => raw.bf.scanDump('grows', at));
    for (const [at, chunk] of dump) {
        equal(name('bf load'), await bf.loadChunk('loaded', at, chunk), 'OK');
    }
    const asked = sequence(0, 6000);
    equal(name('bf loaded'), await bf.mExists('loaded', asked), await bf.mExists('grows', asked));
    equal(name('bf facts'), without(await bf.info('loaded')), without(await bf.info('grows')));
    await fails(name('bf bad'), 'received bad data', bf.loadChunk('bad', 1, Buffer.alloc(40)));

    equal(name('cf reserve'), await cf.reserve('c', 1000,
        { BUCKETSIZE: 4, MAXITERATIONS: 30, EXPANSION: 2 }), 'OK');
    await fails(name('cf reserve again'), 'item exists', cf.reserve('c', 1000));
    equal(name('cf add'), [await cf.add('c', 'x'), await cf.add('c', 'x')], [true, true]);
    equal(name('cf addnx'), [await cf.addNX('c', 'x'), await cf.addNX('c', 'y')], [false, true]);
    equal(name('cf count'), [await cf.count('c', 'x'), await cf.count('c', 'none')], [2, 0]);
    equal(name('cf exists'), [await cf.exists('c', 'y'), await cf.exists('c', 'none')], [true, false]);
    equal(name('cf insert'), await cf.insert('c', ['z', 'z']), [true, true]);
    equal(name('cf insertnx'), await cf.insertNX('c', ['z', 'w']),
        RESP === 2 ? [false, true] : [0, 1]); // integers in both protocols
    equal(name('cf del'), [await cf.del('c', 'x'), await cf.del('c', 'x'), await cf.del('c', 'x')],
        [true, true, false]);
    equal(name('cf info'), without(await cf.info('c')), {
        'Number of buckets': 256, 'Number of filters': 1, 'Number of items inserted': 4,
        'Number of items deleted': 2, 'Bucket size': 4, 'Expansion rate': 2, 'Max iterations': 30,
    });
    equal(name('cf size'), (await cf.info('c')).Size > 1000, true);
    await fails(name('cf nocreate'), 'not found', cf.insert('none', 'x', { NOCREATE: true }));
    await cf.insert('c', sequence(0, 3000));
    const cuckoo = await chunks((at) => raw.cf.scanDump('c', at));
    for (const [at, chunk] of cuckoo) {
        equal(name('cf load'), await cf.loadChunk('c2', at, chunk), 'OK');
    }
    equal(name('cf facts'), without(await cf.info('c2')), without(await cf.info('c')));
    equal(name('cf counts'), await cf.count('c2', 'z'), await cf.count('c', 'z'));
    await client.close();
}

// ioredis sends what it is given, and answers as RESP2 has them.
async function ioredis() {
    const Redis = here('ioredis');
    const client = new Redis({ port, host: '127.0.0.1', retryStrategy: null });
    const call = (...words) => client.call(...words);
    await client.flushall();
    equal('ioredis: bf reserve', await call('BF.RESERVE', 'b', 0.01, 1000), 'OK');
    equal('ioredis: bf', [await call('BF.ADD', 'b', 'x'), await call('BF.MADD', 'b', 'x', 'y'),
        await call('BF.EXISTS', 'b', 'y'), await call('BF.MEXISTS', 'b', 'x', 'none'),
        await call('BF.CARD', 'b'), await call('BF.INSERT', 'b', 'ITEMS', 'y', 'z')],
    [1, [0, 1], 1, [1, 0], 2, [0, 1]]);
    const info = await call('BF.INFO', 'b');
    info.splice(2, 2);
    equal('ioredis: bf info', info, ['Capacity', 1000, 'Number of filters', 1,
        'Number of items inserted', 3, 'Expansion rate', 2]);
    equal('ioredis: cf', [await call('CF.RESERVE', 'c', 1000), await call('CF.ADD', 'c', 'x'),
        await call('CF.ADDNX', 'c', 'x'), await call('CF.INSERT', 'c', 'ITEMS', 'x', 'y'),
        await call('CF.INSERTNX', 'c', 'ITEMS', 'y', 'z'), await call('CF.COUNT', 'c', 'x'),
        await call('CF.EXISTS', 'c', 'z'), await call('CF.MEXISTS', 'c', 'z', 'none'),
        await call('CF.DEL', 'c', 'z'), await call('CF.DEL', 'c', 'z')],
    ['OK', 1, 0, [1, 1], [0, 1], 2, 1, [1, 0], 1, 0]);
    await call('CF.RESERVE', 'small', 4, 'EXPANSION', 0);
    equal('ioredis: cf full', await call('CF.INSERT', 'small', 'ITEMS', ...sequence(0, 6)),
        [1, 1, 1, 1, -1, -1]);
    await fails('ioredis: an error', 'not found', call('BF.INFO', 'none'));
    const batch = await client.pipeline().call('BF.ADD', 'b', 'new').call('CF.ADD', 'b', 'x').exec();
    equal('ioredis: a pipeline', [batch[0], batch[1][0].message.startsWith('WRONGTYPE')],
        [[null, 1], true]);
    const got = await client.multi().call('BF.ADD', 'b', 'more').call('BF.EXISTS', 'b', 'more').exec();
    equal('ioredis: a transaction', got, [[null, 1], [null, 1]]);
    const dump = await chunks(async (at) => {
        const [iterator, chunk] = await client.callBuffer('BF.SCANDUMP', 'b', at);
        return { iterator, chunk };
    });
    for (const [at, chunk] of dump) {
        await call('BF.LOADCHUNK', 'loaded', at, chunk);
    }
    equal('ioredis: loaded', await call('BF.INFO', 'loaded'), await call('BF.INFO', 'b'));
    client.disconnect();
}

(async () => {
    await nodeRedis(2);
    await nodeRedis(3);
    await ioredis();
})().catch((problem) => {
    failed++;
    console.log('not ok: %s', problem.stack);
}).then(() => {
    console.log('%d passed, %d failed', passed, failed);
    process.exit(failed > 0 || passed === 0 ? 1 : 0);
});

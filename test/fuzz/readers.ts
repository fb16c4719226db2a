/** Every reader of the process with honest texts, and what each of them may throw: its own errors, and nothing else. */
import { hash as sha256 } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parse } from 'yaml'
import { DecodeError, RefusedError, UnreachableError } from '../../src/api/transport/apiErrors.ts'
import { shownValue } from '../../src/base/boundedJson.ts'
import { BaseError } from '../../src/base/errors.ts'
import { Secret } from '../../src/base/secret.ts'
import { decodeEventData } from '../../src/chain/logs/decodeEventData.ts'
import { createRowReader } from '../../src/chain/node/blockRows.ts'
import { createRpcClient } from '../../src/chain/wire/jsonRpc.ts'
import { readSocketMessage } from '../../src/chain/wire/socketMessage.ts'
import { showMessage } from '../../src/cli/verbs/messageCommand.ts'
import { CommandError } from '../../src/config/exit.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { controlRoutes } from '../../src/control/routes.ts'
import { readRemovalRequest } from '../../src/daemon/signers/removalFile.ts'
import { readApprovalFile, readRequest, readSignature } from '../../src/daemon/signers/subaccountFile.ts'
import { ACCOUNT_ID } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { type AnyRecord, decodeAnyRecord, encodeRecord } from '../../src/domain/records.ts'
import { toPlain } from '../../src/domain/summaries/orderView.ts'
import { openGuardFile } from '../../src/journal/guardFile.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { hashOf } from '../../src/journal/sqlite/hashChain.ts'
import { readHighWaterMark } from '../../src/journal/sqlite/highWaterMark.ts'
import { readSnapshot } from '../../src/journal/sqlite/journalSnapshot.ts'
import { genesis } from '../../src/journal/sqlite/recordReplay.ts'
import { replay } from '../../src/journal/sqlite/replay.ts'
import { createRowReader as createJournalReader } from '../../src/journal/sqlite/sqliteRows.ts'
import { createTables } from '../../src/journal/sqlite/sqliteSchema.ts'
import { parseKeystore } from '../../src/keys/keystore.ts'
import { connectRemoteSigner } from '../../src/keys/remote.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { loadReplay } from '../../src/paper/catalog/replayFile.ts'
import { loadScenario, readFaults } from '../../src/paper/server/scenario.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { bodyOf, names, readOf } from '../api/decoders.ts'
import { transportAnsweringStatus } from '../api/support.ts'
import { access, asOperator, engine } from '../control/door.ts'
import { wholeStory } from '../journal/story.ts'
import { manualClock } from '../paper/support.ts'
import { account, startMs } from '../support/intents.ts'

/** One reader. */
export interface Reader {
  readonly name: string
  /** Honest texts that cases are made from. */
  readonly samples: readonly string[]
  /** Reads a text; throws only what `mayThrow` accepts. */
  read(text: string): unknown
  mayThrow(error: unknown): boolean
  /** Cases of it for one case of the cheapest readers; absent: 1. A reader that writes files costs more. */
  readonly share?: number
}

const folder = mkdtempSync(join(tmpdir(), 'perpd-fuzz-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

const isOurs = (error: unknown): boolean => error instanceof BaseError || error instanceof CommandError
const isAnswerError = (error: unknown): boolean =>
  error instanceof DecodeError || error instanceof RefusedError || error instanceof UnreachableError

/** What callers do with whatever was read: show it, and write it. */
function used(value: unknown): void {
  shownValue(value)
  JSON.stringify(toPlain(value))
}

const answers: readonly Reader[] = names.map((name) => ({
  name: `api ${name}`,
  samples: [bodyOf(name)],
  read: async (text) => used((await readOf(name, transportAnsweringStatus(200, text))).value),
  mayThrow: isAnswerError,
}))

const refusals: readonly Reader[] = [400, 404, 422, 503].map((status) => ({
  name: `api ${status}`,
  samples: [
    '{"code":"INSUFFICIENT_LIQUIDITY","message":"no","details":{"reason":"A","available":"1"},"traceId":"t"}',
    '{"message":{"symbol":{"message":"required","value":"x"},"from.to":{"message":"y"}}}',
    '{"error":{"code":"A","message":"b","details":[1,2,{"a":[]}]}}',
    '{"errors":["one","two"]}',
  ],
  read: (text) => readOf('prepare', transportAnsweringStatus(status, text)),
  mayThrow: isAnswerError,
}))

const hash = `0x${'ab'.repeat(32)}`
const log = {
  address: `0x${'cd'.repeat(20)}`,
  topics: [hash, hash],
  data: `0x${'00'.repeat(64)}`,
  blockNumber: '0x10',
  blockHash: hash,
  transactionHash: hash,
  logIndex: '0x1',
}
const block = { number: '0x10', hash, parentHash: hash, timestamp: '0x6553f100' }
const rpcResults: readonly unknown[] = [
  '0x10',
  block,
  { ...block, transactions: [{ hash, to: log.address, input: '0x1234', blockHash: hash }] },
  { hash, to: null, input: '0x', blockHash: null },
  { transactionHash: hash, blockHash: hash, status: '0x1', logs: [log, { ...log, logIndex: '0x2' }] },
  [log],
  null,
  log.data,
]
const endless = { now: () => startMs, monotonicMs: () => 0, sleep: () => new Promise<void>(() => undefined) }

async function readRpc(text: string): Promise<void> {
  const client = createRpcClient(
    'endpoint',
    { send: () => Promise.resolve(text), close: () => undefined },
    endless,
    { timeoutMs: 1_000, batchSize: 10 },
  )
  const calls = [
    { method: 'a', params: [] },
    ...(text.trimStart().startsWith('[') ? [{ method: 'b', params: [] }] : []),
  ]
  const rows = createRowReader('endpoint')
  for (const answer of await client.request(calls, new AbortController().signal)) {
    const readers = [
      (value: unknown) => rows.block(value),
      (value: unknown) => rows.fullBlock(value),
      (value: unknown) => rows.transaction(value),
      (value: unknown) => rows.receipt(value),
      (value: unknown) => rows.logs(value, 1_000),
      (value: unknown) => rows.bytes(value, 'bytes'),
      (value: unknown) => rows.quantity(value, 'quantity'),
    ]
    const result = rows.resultOf(answer, 'a')
    for (const one of readers) {
      try {
        used(one(result))
      } catch (error) {
        if (!isOurs(error)) throw error
      }
    }
    try {
      used(decodeEventData(rows.bytes(result, 'bytes')))
    } catch (error) {
      // Whoever reads a log takes a RangeError as a fault of its endpoint.
      if (!(isOurs(error) || error instanceof RangeError)) throw error
    }
  }
}

const chainAnswers: readonly Reader[] = [
  {
    name: 'rpc answers',
    samples: [
      ...rpcResults.map((result) => JSON.stringify({ jsonrpc: '2.0', id: 1, result })),
      JSON.stringify([
        { jsonrpc: '2.0', id: 2, result: block },
        { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: 'no' } },
      ]),
    ],
    read: readRpc,
    mayThrow: isOurs,
  },
  {
    name: 'socket messages',
    samples: [
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'eth_subscription',
        params: { subscription: '0x1', result: block },
      }),
      JSON.stringify([
        { jsonrpc: '2.0', id: 2, result: 1 },
        { jsonrpc: '2.0', id: 1, result: 2 },
      ]),
    ],
    read: (text) => {
      const message = readSocketMessage(text)
      if (message.kind === 'head') shownValue(message.head)
    },
    mayThrow: () => false,
  },
]

const control = controlRoutes({
  ...access,
  engine,
  metrics: { render: () => Promise.resolve(''), contentType: 'text/plain' },
  health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) } as never,
  hostNames: [],
  requestsPerSecond: 1e9,
  now: () => 0,
})

/** Bodies of commands: an answer below 500 for whatever comes. */
const commands: readonly Reader[] = (
  [
    ['/api/trading', '{"scope":"global","state":"halted","reason":"x","by":"me"}'],
    ['/api/kill', '{"close":true,"by":"me"}'],
    ['/api/limits', '{"confirm":true,"by":"me"}'],
    ['/api/discrepancies/abc', '{"as":"ignored","by":"me"}'],
    ['/api/orders/abc/resolve', '{"as":"dead","by":"me"}'],
    ['/api/orders/abc/unwind', '{"reason":"x","by":"me"}'],
  ] as const
).map(([path, sample]) => ({
  name: `control ${path}`,
  samples: [sample],
  read: async (text) => {
    const headers = { ...asOperator, 'content-type': 'application/json', host: 'localhost' }
    const { status } = await control.fetch(
      new Request(`http://localhost${path}`, { method: 'POST', headers, body: text }),
    )
    if (status >= 500) throw new Error(`answered ${status}`)
  },
  mayThrow: () => false,
}))

const ofAccount = { v: RECORD_VERSION, atMs: startMs, intentId: ACCOUNT_ID } as const
const side = { marketToken: account, direction: 'long', collateralToken: account } as const
const story: readonly AnyRecord[] = [
  ...wholeStory(1),
  {
    ...ofAccount,
    kind: 'discrepancy.raised',
    discrepancy: { ...side, discrepancyId: 'trade:1', kind: 'adl', statement: 'x', sizeDeltaUsd: -5n },
  },
  { ...ofAccount, kind: 'discrepancy.settled', discrepancyId: 'trade:1', as: 'ignored', by: 'me' },
  { ...ofAccount, kind: 'account.reconciled', throughSeconds: 1_800_000_000 },
  {
    ...ofAccount,
    kind: 'operator.command',
    command: 'limits.in-force',
    detail: '{"a":"1"}',
    by: 'me',
    via: 'cli',
  },
  {
    ...ofAccount,
    kind: 'equity.marked',
    equityUsd: 1n,
    peakUsd: 2n,
    dayStartMs: startMs,
    dayStartUsd: 3n,
    dayFirstAtMs: startMs,
    shownPeakUsd: 4n,
    dayTransfersUsd: -5n,
    dayShareOfUsd: 6n,
    dayOpenUsd: { 'eth-trend': -7n, operator: 8n },
  },
]

/** A journal in memory with one record's text changed and the chain of hashes right: what a file says that was made so. */
function readJournal(changed: number, text: string): void {
  const db = new DatabaseSync(':memory:')
  try {
    createTables(db)
    const insert = db.prepare('INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)')
    let before = ''
    for (const [index, record] of story.entries()) {
      const body = index === changed ? text : encodeRecord(record)
      const seq = index + 1
      before = hashOf(before, seq, body)
      const attempt = 'attempt' in record ? record.attempt : null
      insert.run(seq, record.atMs, record.intentId, record.kind, attempt, body, before)
    }
    try {
      replay(db, 'journal', genesis, createLedger())
    } catch (error) {
      if (!isOurs(error)) throw error
    }
    createJournalReader(db, 'journal').intent('intent-1')
  } finally {
    db.close()
  }
}

/** A head with the right checksum, which is made over the hash of its record, its numbers and its text. */
function readSnapshotOf(text: string): void {
  const db = new DatabaseSync(':memory:')
  try {
    createTables(db)
    db.prepare('INSERT INTO snapshot VALUES (1, 0, ?, ?)').run(sha256('sha256', `\n0\n0\n${text}`), text)
    readSnapshot(db, () => '')
  } finally {
    db.close()
  }
}

const journals: readonly Reader[] = [
  {
    name: 'journal records',
    samples: story.map(encodeRecord),
    read: (text) => {
      used(decodeAnyRecord(text))
    },
    mayThrow: isOurs,
  },
  ...story.map(
    (record, index): Reader => ({
      name: `journal record ${index} (${record.kind}) in a file`,
      samples: [encodeRecord(record)],
      read: (text) => readJournal(index, text),
      mayThrow: isOurs,
      share: 0.05,
    }),
  ),
  {
    name: 'journal snapshots',
    samples: [createLedger().snapshot().head],
    read: readSnapshotOf,
    mayThrow: isOurs,
    share: 0.1,
  },
  {
    name: 'journal high-water mark',
    samples: [`12 ${'ab'.repeat(32)} ${'cd'.repeat(32)}\n`],
    read: (text) => readHighWaterMark(fileWith('head', text)),
    mayThrow: () => false,
    share: 0.1,
  },
  {
    name: 'signing table',
    samples: ['["intent-1",1,"0xab",1800000000,"0",1800000000]'],
    // With the right check digits: what a file says that was made so.
    read: (text) => {
      const line = text.replaceAll('\n', ' ')
      const check = checkOf(line)
      openGuardFile({ path: fileWith('guard', `${check} ${line}\n`) }).close()
    },
    mayThrow: isOurs,
    share: 0.05,
  },
]

function checkOf(line: string): string {
  return sha256('sha256', Buffer.from(line, 'latin1').toString('latin1')).slice(0, 16)
}

const keystoreText = JSON.stringify({
  version: 1,
  address: '19e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: 'ab'.repeat(16) },
    ciphertext: 'cd'.repeat(32),
    kdf: 'scrypt',
    kdfparams: { dklen: 32, n: 262_144, r: 8, p: 1, salt: 'ef'.repeat(32) },
    mac: '01'.repeat(32),
  },
})

const approval = {
  subaccount: account,
  shouldAdd: true,
  expiresAt: '1800604800',
  maxAllowedCount: '90',
  actionType: hash,
  nonce: '0',
  desChainId: '42161',
  deadline: '1800604800',
  integrationId: hash,
}
const typedData = JSON.stringify({
  domain: { name: 'GmxBaseGelatoRelayRouter', version: '1', chainId: 42_161, verifyingContract: account },
  primaryType: 'SubaccountApproval',
  types: {
    EIP712Domain: [{ name: 'name', type: 'string' }],
    SubaccountApproval: [{ name: 'nonce', type: 'uint256' }],
  },
  message: approval,
  perpd: { feeAmount: '1', userNonce: '2', deadline: '3' },
})

const keys: readonly Reader[] = [
  {
    name: 'keystores',
    samples: [keystoreText],
    read: (text) => parseKeystore(new Secret(text), 'keystore'),
    mayThrow: isOurs,
  },
  {
    name: "a signer's replies",
    samples: [
      `{"jsonrpc":"2.0","id":1,"result":["${account}"]}`,
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}',
    ],
    read: async (text) => {
      const fetch = () => Promise.resolve({ status: 200, text: () => Promise.resolve(text) })
      const signer = await connectRemoteSigner({
        url: 'http://127.0.0.1:1',
        address: account,
        token: new Secret('a-token-of-the-signer'),
        timeoutMs: 1_000,
        fetch,
      })
      return signer.sign({
        digest: hash,
        typedData: { domain: {}, types: {}, primaryType: 'A', message: {} },
      } as never)
    },
    mayThrow: isOurs,
  },
  {
    name: 'approval files',
    samples: [JSON.stringify({ ...approval, signature: `0x${'ab'.repeat(65)}` })],
    read: (text) => readApprovalFile(fileWith('approval', text), arbitrum, account, account),
    mayThrow: isOurs,
    share: 0.2,
  },
  {
    name: 'requests to an owner',
    samples: [typedData],
    read: (text) => {
      const path = fileWith('request', text)
      for (const read of [readRequest, readSignature, (file: string) => readRemovalRequest(arbitrum, file)]) {
        try {
          read(path)
        } catch (error) {
          if (!isOurs(error)) throw error
        }
      }
      return showMessage({
        positionals: [path],
        cwd: folder,
        out: () => undefined,
        err: () => undefined,
      } as never)
    },
    mayThrow: isOurs,
    share: 0.2,
  },
]

const strategyFiles = ['eth-trend', 'eth-grid', 'guard'].map((name) =>
  readFileSync(new URL(`../../strategies/${name}.yaml`, import.meta.url), 'utf8'),
)

const settings: readonly Reader[] = [
  {
    name: 'configuration files',
    samples: [
      '{"profile":"paper","risk":{"maxPositionSizeUsd":"1000"},"control":{"port":9464},"rpc":{"http":["https://a.example/x"]}}',
      readFileSync(new URL('../../config/paper.json', import.meta.url), 'utf8'),
    ],
    read: (text) => {
      fileWith('perpd.json', text)
      return loadConfig({ argv: [], env: {}, cwd: folder })
    },
    mayThrow: isOurs,
    share: 0.05,
  },
  {
    name: 'strategy files',
    samples: [...strategyFiles, ...strategyFiles.map((text) => JSON.stringify(parse(text)))],
    read: async (text) => {
      const { problems } = await loadStrategies([fileWith('one.yaml', text)], {})
      for (const { message } of problems)
        if (message.length > 100_000) throw new Error('a problem without end')
    },
    mayThrow: () => false,
    share: 0.1,
  },
]

const paper: readonly Reader[] = [
  {
    name: 'paper scenarios',
    samples: [
      '[{"atSeconds":5,"set":{"down":["api/0"]},"forSeconds":20},{"atSeconds":9,"wire":{"kind":"html","status":502}}]',
    ],
    read: (text) => {
      readFaults(text)
      return loadScenario(fileWith('scenario.yaml', text))
    },
    mayThrow: isOurs,
    share: 0.2,
  },
  {
    name: 'paper replays',
    samples: ['[{"timestamp":1640991600,"open":3000,"high":3100,"low":2900,"close":3050}]'],
    read: (text) => loadReplay(fileWith('eth.json', text), 1, loadCatalog('arbitrum').tokens),
    mayThrow: isOurs,
    share: 0.2,
  },
  {
    name: 'paper state files',
    samples: [paperState()],
    read: (text) =>
      createVenue({
        clock: manualClock(),
        chain: arbitrum,
        seed: 7,
        stateFile: fileWith('venue.json', text),
      }),
    mayThrow: isOurs,
    share: 0.001,
  },
]

function paperState(): string {
  const path = join(folder, 'honest.json')
  createVenue({ clock: manualClock(), chain: arbitrum, seed: 7, stateFile: path }).save()
  return readFileSync(path, 'utf8')
}

/** All of them. */
export const readers: readonly Reader[] = [
  ...answers,
  ...refusals,
  ...chainAnswers,
  ...commands,
  ...journals,
  ...keys,
  ...settings,
  ...paper,
]

/** viem against the venue's JSON-RPC endpoint, and a reader of the event emitter's logs that shares nothing with it. */
import {
  createPublicClient,
  decodeEventLog,
  encodeAbiParameters,
  type Hex,
  http,
  type Log,
  type PublicClient,
  pad,
  parseAbi,
  webSocket,
} from 'viem'
import { arbitrum } from 'viem/chains'
import { chains } from '../../src/protocol/chains/index.ts'
import type { Any, startVenue } from './support.ts'

type Paper = Awaited<ReturnType<typeof startVenue>>

export const emitter = chains.arbitrum.contracts.eventEmitter
export const router = chains.arbitrum.contracts.gelatoRelayRouter

/** The event emitter as its contract declares it. */
export const emitterAbi = parseAbi([
  'struct AddressKV { string key; address value; }',
  'struct AddressesKV { string key; address[] value; }',
  'struct AddressItems { AddressKV[] items; AddressesKV[] arrayItems; }',
  'struct UintKV { string key; uint256 value; }',
  'struct UintsKV { string key; uint256[] value; }',
  'struct UintItems { UintKV[] items; UintsKV[] arrayItems; }',
  'struct IntKV { string key; int256 value; }',
  'struct IntsKV { string key; int256[] value; }',
  'struct IntItems { IntKV[] items; IntsKV[] arrayItems; }',
  'struct BoolKV { string key; bool value; }',
  'struct BoolsKV { string key; bool[] value; }',
  'struct BoolItems { BoolKV[] items; BoolsKV[] arrayItems; }',
  'struct WordKV { string key; bytes32 value; }',
  'struct WordsKV { string key; bytes32[] value; }',
  'struct WordItems { WordKV[] items; WordsKV[] arrayItems; }',
  'struct BytesKV { string key; bytes value; }',
  'struct BytesListKV { string key; bytes[] value; }',
  'struct BytesItems { BytesKV[] items; BytesListKV[] arrayItems; }',
  'struct TextKV { string key; string value; }',
  'struct TextsKV { string key; string[] value; }',
  'struct TextItems { TextKV[] items; TextsKV[] arrayItems; }',
  'struct EventLogData { AddressItems addressItems; UintItems uintItems; IntItems intItems; BoolItems boolItems; WordItems bytes32Items; BytesItems bytesItems; TextItems stringItems; }',
  'event EventLog(address msgSender, string eventName, string indexed eventNameHash, EventLogData eventData)',
  'event EventLog1(address msgSender, string eventName, string indexed eventNameHash, bytes32 indexed topic1, EventLogData eventData)',
  'event EventLog2(address msgSender, string eventName, string indexed eventNameHash, bytes32 indexed topic1, bytes32 indexed topic2, EventLogData eventData)',
])

export const digestsAbi = parseAbi(['function digests(bytes32) view returns (bool)'])

/** Clients over both transports. */
export function clientsOf(paper: Paper): { readonly client: PublicClient; readonly live: PublicClient } {
  const [rpc] = paper.served.rpc
  const [ws] = paper.served.ws
  const options = { chain: arbitrum, pollingInterval: 20, cacheTime: 0 } as const
  return {
    client: createPublicClient({ ...options, transport: http(rpc) }) as PublicClient,
    live: createPublicClient({ ...options, transport: webSocket(ws, { reconnect: false }) }) as PublicClient,
  }
}

/** Whether a log is the event emitter's; others are of tokens. */
export function isOfEmitter({ address }: Pick<Log, 'address'>): boolean {
  return address.toLowerCase() === emitter.toLowerCase()
}

/** Tells whether an event is of a market's amounts: some come with each order that moves them. */
export const isMarketEvent = ({ name }: { readonly name: string }): boolean =>
  /^(?!Order).*Updated$/.test(name)

/** Name, topics and items by key of a log. */
export function eventOf(log: Pick<Log, 'data' | 'topics'>) {
  const { args } = decodeEventLog({ abi: emitterAbi, data: log.data, topics: log.topics as [Hex, ...Hex[]] })
  const items: Record<string, Any> = {}
  for (const group of Object.values(args.eventData)) {
    for (const { key, value } of [...group.items, ...group.arrayItems]) items[key] = value
  }
  return { name: args.eventName, msgSender: args.msgSender, items, topics: log.topics }
}

/** Data of a log decoded and encoded again by viem. */
export function encodedAgain(log: Pick<Log, 'data' | 'topics'>): Hex {
  const { args } = decodeEventLog({ abi: emitterAbi, data: log.data, topics: log.topics as [Hex, ...Hex[]] })
  const event = emitterAbi.find((one) => one.name === 'EventLog1')
  const inputs = (event?.inputs ?? []).filter((input) => !('indexed' in input && input.indexed))
  return encodeAbiParameters(inputs, [args.msgSender, args.eventName, args.eventData])
}

/** Topic of an address. */
export const topicOf = (address: Hex): Hex => pad(address, { size: 32 }).toLowerCase() as Hex

/** One raw call. */
export async function rpcCall(paper: Paper, body: unknown): Promise<Any> {
  const response = await fetch(paper.served.rpc[0] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i += 1) {
    if (holds()) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`never: ${what}`)
}

/**
 * A chain of our own inside the process: a real virtual machine with the contracts of `Venue.sol` at the addresses that the
 * product pins, blocks with times that the test chooses, the state of every block, reorganisations, and the JSON-RPC that
 * the product asks.
 */
import { createBlock } from '@ethereumjs/block'
import { createCustomCommon, Hardfork, Mainnet } from '@ethereumjs/common'
import { createEVM } from '@ethereumjs/evm'
import { MerkleStateManager } from '@ethereumjs/statemanager'
import { Account, bytesToHex, createAddressFromString, hexToBytes } from '@ethereumjs/util'
import { type Abi, decodeErrorResult, encodeAbiParameters, keccak256 } from 'viem'
import { type Address, type Hex, hexKey } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { type Compiled, compileVenue } from './compile.ts'

const { gelatoRelayRouter, subaccountGelatoRelayRouter, eventEmitter, multicall } = arbitrum.contracts
const GAS_LIMIT = 1_000_000_000n

/** What a transaction does. */
export interface Call {
  readonly to: Address
  readonly data: Hex
  /** Who sends it; somebody when absent. */
  readonly from?: Address
}

/** What became of a call: what it returned, or the error it reverted with. */
export type CallResult =
  | { readonly ok: true; readonly returned: Hex; readonly hash: Hex }
  | { readonly ok: false; readonly revert: string; readonly hash: Hex }

interface Log {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

interface Transaction extends Call {
  readonly hash: Hex
  readonly ok: boolean
  readonly logs: readonly Log[]
}

interface Block {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestampSeconds: number
  readonly stateRoot: Uint8Array
  readonly transactions: readonly Transaction[]
}

/** Parameters of a JSON-RPC request. */
type Params = readonly [unknown?, unknown?]

/** The chain. */
export interface LocalChain {
  /** The compiled contracts by name. */
  readonly contracts: Readonly<Record<string, Compiled>>
  readonly tip: { readonly number: bigint; readonly hash: Hex; readonly timestampSeconds: number }
  /** Runs a call at the newest state and keeps nothing of it. Throws when it reverts. */
  read(call: Call): Promise<Hex>
  /** Mines a block; each of its transactions succeeds or reverts whole. */
  mine(timestampSeconds: number, calls?: readonly Call[]): Promise<readonly CallResult[]>
  /** Takes the newest blocks back. What was in them is gone until it is mined again. */
  takeBack(blocks: number): Promise<void>
  /** Answers one JSON-RPC request, or a list of them. `safe` is `finalityBlocks` behind. */
  rpc(body: string): Promise<string>
}

/** Makes a chain whose first block has this time. `safe` is so many blocks behind the newest one. */
export async function createLocalChain(timestampSeconds: number, finalityBlocks = 2): Promise<LocalChain> {
  const contracts = compileVenue()
  const errors: Abi = Object.values(contracts)
    .flatMap(({ abi }) => abi)
    .filter(({ type }) => type === 'error')
  const common = createCustomCommon({ chainId: arbitrum.chainId }, Mainnet, { hardfork: Hardfork.Cancun })
  const stateManager = new MerkleStateManager({ common })
  const evm = await createEVM({ common, stateManager, allowUnlimitedContractSize: true })
  const sender = createAddressFromString(`0x${'5e'.repeat(20)}`)
  const blocks: Block[] = []
  let salt = 0

  const at = (address: Address) => createAddressFromString(hexKey(address))
  const headerOf = (number: bigint, timestamp: number) =>
    createBlock({ header: { number, timestamp: BigInt(timestamp), gasLimit: GAS_LIMIT } }, { common })

  /** Deploys a contract and puts its code, constants of its constructor included, at a pinned address. */
  async function deploy(name: string, address: Address, venue?: Address): Promise<void> {
    const argument = venue === undefined ? '' : encodeAbiParameters([{ type: 'address' }], [venue]).slice(2)
    const data = hexToBytes(`0x${contracts[name]?.creation}${argument}`)
    const { execResult } = await evm.runCall({
      caller: sender,
      data,
      gasLimit: GAS_LIMIT,
      block: headerOf(1n, timestampSeconds),
    })
    if (execResult.exceptionError !== undefined)
      throw new Error(`${name}: ${execResult.exceptionError.error}`)
    await stateManager.putAccount(at(address), new Account())
    await stateManager.putCode(at(address), execResult.returnValue)
  }

  async function run(call: Call, number: bigint, timestamp: number) {
    const { execResult } = await evm.runCall({
      to: at(call.to),
      caller: call.from === undefined ? sender : at(call.from),
      origin: call.from === undefined ? sender : at(call.from),
      data: hexToBytes(call.data),
      gasLimit: GAS_LIMIT,
      block: headerOf(number, timestamp),
      skipBalance: true,
    })
    return execResult
  }

  function revertOf(returned: Uint8Array, machine: string): string {
    if (returned.length < 4) return machine
    const data = bytesToHex(returned)
    try {
      return decodeErrorResult({ abi: errors, data }).errorName
    } catch {
      return data.slice(0, 10)
    }
  }

  async function root(): Promise<Uint8Array> {
    await stateManager.flush()
    return stateManager.getStateRoot()
  }

  /** Runs `work` on the state of a block and comes back to the newest one. */
  async function onState<T>(block: Block, work: () => Promise<T>): Promise<T> {
    await stateManager.setStateRoot(block.stateRoot)
    await stateManager.checkpoint()
    try {
      return await work()
    } finally {
      await stateManager.revert()
      await stateManager.setStateRoot(tip().stateRoot)
    }
  }

  function tip(): Block {
    return blocks.at(-1) as Block
  }

  async function mine(timestamp: number, calls: readonly Call[] = []): Promise<readonly CallResult[]> {
    const parent = blocks.at(-1)
    if (parent !== undefined && timestamp < parent.timestampSeconds) throw new Error('time runs forward')
    const number = (parent?.number ?? 99n) + 1n
    const transactions: Transaction[] = []
    const results: CallResult[] = []
    for (const call of calls) {
      salt += 1
      const hash = keccak256(`0x${salt.toString(16).padStart(64, '0')}`)
      const { exceptionError, returnValue, logs = [] } = await run(call, number, timestamp)
      evm.journal.cleanJournal()
      const ok = exceptionError === undefined
      results.push(
        ok
          ? { ok, returned: bytesToHex(returnValue), hash }
          : { ok: false, revert: revertOf(returnValue, exceptionError.error), hash },
      )
      const kept = ok
        ? logs.map(
            ([address, topics, data]): Log => ({
              address: bytesToHex(address),
              topics: topics.map((topic) => bytesToHex(topic)),
              data: bytesToHex(data),
            }),
          )
        : []
      transactions.push({ ...call, hash, ok, logs: kept })
    }
    salt += 1
    blocks.push({
      number,
      hash: keccak256(`0xb1${salt.toString(16).padStart(64, '0')}`),
      parentHash: parent?.hash ?? `0x${'00'.repeat(32)}`,
      timestampSeconds: timestamp,
      stateRoot: await root(),
      transactions,
    })
    return results
  }

  // --- JSON-RPC ------------------------------------------------------------------------------------------------------

  const quantity = (value: number | bigint): Hex => `0x${value.toString(16)}`

  function blockOf(tag: unknown): Block | undefined {
    if (typeof tag === 'object' && tag !== null && 'blockHash' in tag) {
      return blocks.find(({ hash }) => hash === tag.blockHash)
    }
    if (tag === 'latest') return tip()
    if (tag === 'safe' || tag === 'finalized') return blocks[Math.max(0, blocks.length - 1 - finalityBlocks)]
    return blocks.find(({ number }) => number === BigInt(String(tag)))
  }

  const transactionRow = ({ hash, to, data }: Transaction, block: Block) => ({
    hash,
    to: hexKey(to),
    input: data,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
  })

  const blockRow = (block: Block | undefined, isFull: unknown) =>
    block === undefined
      ? null
      : {
          number: quantity(block.number),
          hash: block.hash,
          parentHash: block.parentHash,
          timestamp: quantity(block.timestampSeconds),
          transactions: block.transactions.map((one) =>
            isFull === true ? transactionRow(one, block) : one.hash,
          ),
        }

  function logRows(block: Block) {
    let logIndex = -1
    return block.transactions.flatMap(({ hash, logs }) =>
      logs.map((log) => {
        logIndex += 1
        return {
          ...log,
          blockNumber: quantity(block.number),
          blockHash: block.hash,
          transactionHash: hash,
          logIndex: quantity(logIndex),
          removed: false,
        }
      }),
    )
  }

  function matches(topics: readonly Hex[], wanted: readonly (Hex | readonly Hex[] | null)[]): boolean {
    return wanted.every((want, index) => {
      if (want === null) return true
      return [want].flat().includes(topics[index] ?? '0x')
    })
  }

  const methods: Readonly<Record<string, (params: Params) => unknown>> = {
    eth_chainId: () => quantity(arbitrum.chainId),
    eth_getBlockByNumber: ([tag, isFull]) => blockRow(blockOf(tag), isFull),
    eth_getBlockByHash: ([hash, isFull]) => blockRow(blockOf({ blockHash: hash }), isFull),
    eth_getTransactionByHash([hash]) {
      const block = blocks.find(({ transactions }) => transactions.some((one) => one.hash === hash))
      const found = block?.transactions.find((one) => one.hash === hash)
      return block === undefined || found === undefined ? null : transactionRow(found, block)
    },
    eth_getTransactionReceipt([hash]) {
      const block = blocks.find(({ transactions }) => transactions.some((one) => one.hash === hash))
      const found = block?.transactions.find((one) => one.hash === hash)
      if (block === undefined || found === undefined) return null
      return {
        transactionHash: hash,
        blockHash: block.hash,
        status: found.ok ? '0x1' : '0x0',
        logs: logRows(block).filter(({ transactionHash }) => transactionHash === hash),
      }
    },
    eth_getLogs([filter]) {
      const { address, topics, fromBlock, toBlock } = filter as {
        address: Hex
        topics: (Hex | Hex[] | null)[]
        fromBlock: Hex
        toBlock: Hex
      }
      return blocks
        .filter(({ number }) => number >= BigInt(fromBlock) && number <= BigInt(toBlock))
        .flatMap(logRows)
        .filter((log) => log.address === hexKey(address) && matches(log.topics, topics))
    },
    async eth_call([call, tag]) {
      const block = blockOf(tag)
      if (block === undefined) throw Object.assign(new Error('header not found'), { code: -32000 })
      const { exceptionError, returnValue } = await onState(block, () =>
        run(call as Call, block.number, block.timestampSeconds),
      )
      if (exceptionError !== undefined) {
        throw Object.assign(new Error(revertOf(returnValue, exceptionError.error)), { code: 3 })
      }
      return bytesToHex(returnValue)
    },
  }

  async function answer({ id, method, params }: { id: unknown; method: string; params: Params }) {
    const work = methods[method]
    if (work === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: `no ${method}` } }
    try {
      return { jsonrpc: '2.0', id, result: await work(params) }
    } catch (error) {
      const { code = -32603, message } = error as { code?: number; message: string }
      return { jsonrpc: '2.0', id, error: { code, message } }
    }
  }

  await deploy('Venue', eventEmitter)
  await deploy('OwnRouter', gelatoRelayRouter, eventEmitter)
  await deploy('SubaccountRouter', subaccountGelatoRelayRouter, eventEmitter)
  await deploy('Multicall', multicall)
  await mine(timestampSeconds)
  return {
    contracts,
    get tip() {
      return tip()
    },
    async read(call) {
      const { exceptionError, returnValue } = await onState(tip(), () =>
        run(call, tip().number, tip().timestampSeconds),
      )
      if (exceptionError !== undefined) throw new Error(revertOf(returnValue, exceptionError.error))
      return bytesToHex(returnValue)
    },
    mine,
    async takeBack(count) {
      blocks.splice(blocks.length - count)
      await stateManager.setStateRoot(tip().stateRoot)
    },
    async rpc(body) {
      const asked = JSON.parse(body) as Parameters<typeof answer>[0] | Parameters<typeof answer>[0][]
      if (!Array.isArray(asked)) return JSON.stringify(await answer(asked))
      const answers = []
      // One state at a time.
      for (const one of asked) answers.push(await answer(one))
      return JSON.stringify(answers)
    },
  }
}

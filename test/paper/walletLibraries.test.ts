/** The paper node as wallets and libraries use one: viem over real sockets, for what a wallet asks besides orders. */
import { getAddress, keccak256, multicall3Abi, parseAbi, parseEther, toHex } from 'viem'
import { arbitrum } from 'viem/chains'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { clientsOf, rpcCall, until } from './chainSupport.ts'
import { ETHER, erc20, startWallet, type Wallet } from './classicSupport.ts'
import { stranger as another, usdc, weth } from './support.ts'

const stranger = another.address

let me: Wallet
beforeEach(async () => {
  me = await startWallet()
})
afterEach(() => me.paper.close())

const token = parseAbi([
  'function transferFrom(address from, address to, uint256 amount) returns (bool)',
  'function totalSupply() view returns (uint256)',
  'function nonces(address owner) view returns (uint256)',
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function deposit() payable',
  'function withdraw(uint256 amount)',
])
const coin = { address: usdc, abi: token } as const
const balance = (address: `0x${string}`, of: `0x${string}`) =>
  me.node.readContract({ address, abi: erc20, functionName: 'balanceOf', args: [of] })

test('filters give what is new since they were asked last, and are gone once they are uninstalled', async () => {
  const blocks = await me.node.createBlockFilter()
  const pending = await me.node.createPendingTransactionFilter()
  const approvals = { address: usdc, abi: erc20, eventName: 'Approval' } as const
  const logs = await me.node.createContractEventFilter(approvals)
  const { number: fromBlock } = await me.node.getBlock()
  const since = await me.node.createContractEventFilter({ ...approvals, fromBlock })
  expect(await me.node.getFilterChanges({ filter: logs })).toEqual([])
  await me.approve(usdc, 5n)
  const [hash] = await me.node.getFilterChanges({ filter: pending })
  expect((await me.node.getTransactionReceipt({ hash: hash ?? '0x' })).status).toBe('success')
  expect(await me.node.getFilterChanges({ filter: logs })).toMatchObject([{ args: { value: 5n } }])
  expect(await me.node.getFilterChanges({ filter: logs })).toEqual([])
  // All that it matches from its first block on, as often as it is asked.
  for (let asked = 0; asked < 2; asked += 1)
    expect(await me.node.getFilterLogs({ filter: since })).toMatchObject([{ args: { value: 5n } }])
  expect(await me.node.getFilterChanges({ filter: blocks })).toContain((await me.node.getBlock()).hash)
  expect(await me.node.uninstallFilter({ filter: logs })).toBe(true)
  await expect(me.node.getFilterChanges({ filter: logs })).rejects.toThrow('filter not found')
})

test('what was approved is taken by transferFrom, no more than that, and a failed one changes nothing', async () => {
  const spender = me.account.address
  const owner = stranger
  const asStranger = { account: owner, address: usdc, abi: token, functionName: 'transferFrom' } as const
  await expect(me.node.simulateContract({ ...asStranger, args: [spender, owner, 1n] })).rejects.toThrow(
    'ERC20: insufficient allowance',
  )
  const approved = await me.mined(
    await me.wallet.writeContract({ ...coin, abi: erc20, functionName: 'approve', args: [spender, 70n] }),
  )
  expect(approved.status).toBe('success')
  const take = (amount: bigint) =>
    me.wallet.writeContract({
      ...coin,
      functionName: 'transferFrom',
      args: [spender, owner, amount],
      gas: 200_000n,
    })
  expect((await me.mined(await take(71n))).status).toBe('reverted')
  const before = await balance(usdc, owner)
  expect((await me.mined(await take(30n))).status).toBe('success')
  expect(await balance(usdc, owner)).toBe(before + 30n)
  const left = await me.node.readContract({ ...coin, functionName: 'allowance', args: [spender, spender] })
  expect(left).toBe(40n)
  expect(await me.node.readContract({ ...coin, functionName: 'totalSupply' })).toBeGreaterThan(before)
})

test('a permit that the owner signed sets the allowance once; one of another or too late does nothing', async () => {
  const [name, version, nonce] = await Promise.all([
    me.node.readContract({ ...coin, functionName: 'name' }),
    me.node.readContract({ ...coin, functionName: 'version' }),
    me.node.readContract({ ...coin, functionName: 'nonces', args: [me.account.address] }),
  ])
  const signed = async (value: bigint, deadline: bigint) => {
    const signature = await me.wallet.signTypedData({
      account: me.account,
      domain: { name, version, chainId: arbitrum.id, verifyingContract: usdc },
      types: {
        Permit: [
          { name: 'owner', type: 'address' },
          { name: 'spender', type: 'address' },
          { name: 'value', type: 'uint256' },
          { name: 'nonce', type: 'uint256' },
          { name: 'deadline', type: 'uint256' },
        ],
      },
      primaryType: 'Permit',
      message: { owner: me.account.address, spender: stranger, value, nonce, deadline },
    })
    const [r, s, v] = [
      signature.slice(0, 66),
      `0x${signature.slice(66, 130)}`,
      Number(`0x${signature.slice(130)}`),
    ]
    return [me.account.address, stranger, value, deadline, v, r, s] as never
  }
  const args = await signed(99n, 2n ** 64n)
  const send = async (these: never) =>
    (
      await me.mined(
        await me.wallet.writeContract({ ...coin, functionName: 'permit', args: these, gas: 300_000n }),
      )
    ).status
  expect(await send(await signed(1n, 1n))).toBe('reverted')
  expect(await send(args)).toBe('success')
  expect(
    await me.node.readContract({ ...coin, functionName: 'allowance', args: [me.account.address, stranger] }),
  ).toBe(99n)
  expect(await me.node.readContract({ ...coin, functionName: 'nonces', args: [me.account.address] })).toBe(
    nonce + 1n,
  )
  expect(await send(args)).toBe('reverted')
})

test('the native coin is wrapped and unwrapped, by a plain payment too', async () => {
  const wrapped = { address: weth, abi: token } as const
  const before = await balance(weth, me.account.address)
  await me.mined(await me.wallet.writeContract({ ...wrapped, functionName: 'deposit', value: ETHER }))
  await me.send({ to: weth, value: ETHER })
  expect(await balance(weth, me.account.address)).toBe(before + 2n * ETHER)
  const native = await me.node.getBalance({ address: me.account.address })
  await me.mined(await me.wallet.writeContract({ ...wrapped, functionName: 'withdraw', args: [2n * ETHER] }))
  expect(await balance(weth, me.account.address)).toBe(before)
  expect(await me.node.getBalance({ address: me.account.address })).toBeGreaterThan(native + ETHER)
  await expect(
    me.node.simulateContract({ account: me.account, ...coin, functionName: 'deposit', value: 1n }),
  ).rejects.toThrow('reverted')
})

test('Multicall3 says what the chain is, alone and inside of its aggregates', async () => {
  const multicall = { address: arbitrum.contracts.multicall3.address, abi: multicall3Abi } as const
  const kin = parseAbi([
    'function getBlockNumber() view returns (uint256)',
    'function getChainId() view returns (uint256)',
    'function getBlockHash(uint256 blockNumber) view returns (bytes32)',
    'function getLastBlockHash() view returns (bytes32)',
    'function getBasefee() view returns (uint256)',
    'function getCurrentBlockTimestamp() view returns (uint256)',
    'function getCurrentBlockGasLimit() view returns (uint256)',
    'function getCurrentBlockCoinbase() view returns (address)',
    'struct Call { address target; bytes callData; }',
    'function aggregate(Call[] calls) payable returns (uint256 blockNumber, bytes[] returnData)',
  ])
  const wei = await me.node.getBalance({ address: me.account.address })
  const results = await me.node.multicall({
    contracts: [
      { ...multicall, functionName: 'getEthBalance', args: [me.account.address] },
      { ...multicall, abi: kin, functionName: 'getChainId' },
      { address: usdc, abi: erc20, functionName: 'decimals' },
    ],
  })
  expect(results.map(({ result }) => result)).toEqual([wei, BigInt(arbitrum.id), 6])
  const number = await me.node.readContract({ ...multicall, abi: kin, functionName: 'getBlockNumber' })
  const block = await me.node.getBlock({ blockNumber: number })
  const seen = await me.node.multicall({
    blockNumber: number,
    allowFailure: false,
    contracts: [
      { ...multicall, abi: kin, functionName: 'getBlockHash', args: [number - 1n] },
      { ...multicall, abi: kin, functionName: 'getLastBlockHash' },
      { ...multicall, abi: kin, functionName: 'getBasefee' },
      { ...multicall, abi: kin, functionName: 'getCurrentBlockTimestamp' },
      { ...multicall, abi: kin, functionName: 'getCurrentBlockGasLimit' },
      { ...multicall, abi: kin, functionName: 'getCurrentBlockCoinbase' },
    ],
  })
  const { parentHash, baseFeePerGas, timestamp, gasLimit, miner } = block
  expect(seen).toEqual([parentHash, parentHash, baseFeePerGas, timestamp, gasLimit, getAddress(miner)])
  const { result } = await me.node.simulateContract({
    ...multicall,
    abi: kin,
    functionName: 'aggregate',
    args: [[{ target: usdc, callData: '0x313ce567' }]],
  })
  expect(result).toEqual([number, [toHex(6, { size: 32 })]])
})

test('state overrides are refused by calls and by estimates alike, and empty ones are none', async () => {
  const stateOverride = [{ address: me.account.address, balance: parseEther('1000000') }]
  const call = { account: me.account, to: stranger, value: 1n }
  await expect(me.node.call({ ...call, stateOverride })).rejects.toThrow('state overrides are not supported')
  await expect(me.node.estimateGas({ ...call, stateOverride })).rejects.toThrow(
    'state overrides are not supported',
  )
  expect(await me.node.estimateGas(call)).toBe(21_000n)
})

test('receipts of a block, slots, peers and hashes are answered as nodes answer them', async () => {
  const { transactionHash, blockNumber } = await me.approve(usdc, 5n)
  const receipts = await me.node.request({
    method: 'eth_getBlockReceipts' as never,
    params: [toHex(blockNumber)] as never,
  })
  expect(receipts).toMatchObject([{ transactionHash, status: '0x1' }])
  expect(await me.node.getStorageAt({ address: usdc, slot: '0x0' })).toBe(toHex(0, { size: 32 }))
  const result = async (method: string, ...params: unknown[]) =>
    (await rpcCall(me.paper, { jsonrpc: '2.0', id: 1, method, params })).result
  expect(await result('net_peerCount')).toBe('0x1')
  expect(await result('web3_sha3', '0x6869')).toBe(keccak256('0x6869'))
  expect(await result('eth_getBlockReceipts', '0xffffffffff')).toBeNull()
})

test('transactions are told over a socket as they are sent', async () => {
  const { live } = clientsOf(me.paper)
  const told: string[] = []
  const stop = live.watchPendingTransactions({ onTransactions: (hashes) => told.push(...hashes) })
  // Answered after the subscription of the same connection.
  await live.getBlockNumber()
  const hash = await me.wallet.sendTransaction({ to: stranger, value: 1n })
  await until('told', () => told.includes(hash))
  stop()
})

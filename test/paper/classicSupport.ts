/** A viem wallet with a throwaway key on the paper venue's chain, over a real socket. */
import {
  type Address,
  createPublicClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  http,
  type PublicClient,
  pad,
  parseAbi,
  type TransactionReceipt,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { arbitrum } from 'viem/chains'
import { exchangeRouterAbi } from '../../src/paper/transactions/exchangeRouterAbi.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { type Any, ethMarket, startVenue, usd, usdc } from './support.ts'

export const { contracts } = chains.arbitrum
export const GWEI = 10n ** 9n
export const ETHER = 10n ** 18n

export const erc20 = parseAbi([
  'function approve(address spender, uint256 amount) returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])

/** A venue, a wallet that has let nobody take anything, and what the tests do with both. */
export async function startWallet(options: Parameters<typeof startVenue>[0] = {}) {
  const paper = await startVenue({
    ...options,
    settings: { keeperJitterMs: 0, startAllowance: false, ...options?.settings },
  })
  const account = privateKeyToAccount(generatePrivateKey())
  const [url] = paper.served.rpc
  const shared = {
    chain: arbitrum,
    pollingInterval: 10,
    cacheTime: 0,
    transport: http(url, { retryCount: 0 }),
  }
  const node = createPublicClient(shared) as PublicClient
  const wallet = createWalletClient({ ...shared, account })
  paper.clock.move(1000)
  /** Time passes until what was sent is in a block that can be read. */
  const mined = async (hash: Hex): Promise<TransactionReceipt> => {
    paper.clock.move(1000)
    return node.getTransactionReceipt({ hash })
  }
  const send = async (transaction: Any): Promise<TransactionReceipt> =>
    mined(await wallet.sendTransaction(transaction))
  const approve = async (token: Address, amount: bigint): Promise<TransactionReceipt> =>
    mined(
      await wallet.writeContract({
        address: token,
        abi: erc20,
        functionName: 'approve',
        args: [contracts.router, amount],
      }),
    )
  const native = () => node.getBalance({ address: account.address })
  const tokens = (token: Address, address: Address = account.address) =>
    node.readContract({ address: token, abi: erc20, functionName: 'balanceOf', args: [address] })
  const prepare = async (path: string, fields: Record<string, unknown>): Promise<Any> => {
    const answer = await paper.post(path, { mode: 'classic', from: account.address, ...fields })
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  /** The transaction of a classic prepare of an increase, as it stands in the answer. */
  const increase = (fields: Record<string, unknown> = {}): Promise<Any> =>
    prepare('/orders/txns/prepare', {
      kind: 'increase',
      orderType: 'market',
      symbol: 'ETH/USD [WETH-USDC]',
      direction: 'long',
      size: usd(1000),
      collateralToken: 'USDC',
      collateralToPay: { amount: '200000000', token: 'USDC' },
      ...fields,
    })
  const orders = async (): Promise<Any[]> => (await paper.get(`/orders?address=${account.address}`)).body
  const positions = async (): Promise<Any[]> =>
    (await paper.get(`/positions?address=${account.address}`)).body
  return {
    paper,
    account,
    node,
    wallet,
    mined,
    send,
    approve,
    native,
    tokens,
    prepare,
    increase,
    orders,
    positions,
  }
}

export type Wallet = Awaited<ReturnType<typeof startWallet>>

/** A payload as viem sends it. */
export const toSend = ({ payload }: Any) => ({
  to: payload.to as Address,
  data: payload.data as Hex,
  value: BigInt(payload.value),
})

const call = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: exchangeRouterAbi, functionName, args } as never)

/** Calls of the exchange router, made by hand. */
export const router = {
  sendWnt: (amount: bigint, to: Address = contracts.orderVault) => call('sendWnt', [to, amount]),
  sendTokens: (amount: bigint, token: Address = usdc, to: Address = contracts.orderVault) =>
    call('sendTokens', [token, to, amount]),
  create: (params: Any) => call('createOrder', [params]),
  update: (...args: readonly unknown[]) => call('updateOrder', args),
  cancel: (key: Hex) => call('cancelOrder', [key]),
  external: (target: Address, data: Hex) => call('makeExternalCalls', [[target], [data], [], []]),
  simulateLatest: (prices: Any) => call('simulateExecuteLatestOrder', [prices]),
  simulate: (key: Hex, prices: Any) => call('simulateExecuteOrder', [key, prices]),
  multicall: (...calls: readonly Hex[]) => ({
    to: contracts.exchangeRouter,
    data: call('multicall', [calls]),
  }),
}

/** Order parameters of a long of 1,000 dollars on ETH with USDC; `over` replaces parts. */
export function orderOf(account: Address, over: Any = {}): Any {
  return {
    addresses: {
      receiver: account,
      cancellationReceiver: pad('0x', { size: 20 }),
      callbackContract: pad('0x', { size: 20 }),
      uiFeeReceiver: pad('0x', { size: 20 }),
      market: ethMarket,
      initialCollateralToken: usdc,
      swapPath: [],
      ...over.addresses,
    },
    numbers: {
      sizeDeltaUsd: BigInt(usd(1000)),
      initialCollateralDeltaAmount: 200_000_000n,
      triggerPrice: 0n,
      acceptablePrice: 2n ** 256n - 1n,
      executionFee: 10n ** 15n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
      ...over.numbers,
    },
    orderType: over.orderType ?? 2,
    decreasePositionSwapType: 0,
    isLong: over.isLong ?? true,
    shouldUnwrapNativeToken: false,
    autoCancel: over.autoCancel ?? false,
    referralCode: pad('0x', { size: 32 }),
    dataList: over.dataList ?? [],
  }
}

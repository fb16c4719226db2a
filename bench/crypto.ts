/**
 * What hashing and signing cost, by hand: `node bench/crypto.ts`. Microseconds per call, the best of many short rounds,
 * viem beside what this process uses. Also says which packages compute.
 */
import {
  encodeAbiParameters,
  type Hex,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  recoverAddress,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { ZERO_ADDRESS, ZERO_HASH } from '../src/protocol/address.ts'
import { arbitrum } from '../src/protocol/chains/arbitrum.ts'
import { keccakOfBytes, keccakOfHex, keccakSource } from '../src/protocol/crypto/keccak.ts'
import { curveSource, recoverSigner, signDigest } from '../src/protocol/crypto/secp256k1.ts'
import { batchTypes } from '../src/protocol/signing/batchTypes.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  encodeRelayParams,
  hashRelayParams,
  type RelayParams,
  relayRouterDomain,
} from '../src/protocol/signing/relayRouter.ts'

const ROUNDS = 40
const ROUND_MS = 10
const USDC = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const WETH = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'
const MARKET = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const PROVIDER = '0x90218fbb064b1475E4382b041Cc7ccF08AF718B0'

const privateKey: Hex = `0x${'11'.repeat(32)}`
const account = privateKeyToAccount(privateKey)
const router = arbitrum.contracts.gelatoRelayRouter

const relayParams: RelayParams = {
  oracleParams: { tokens: [USDC, WETH], providers: [PROVIDER, PROVIDER], data: ['0x', '0x'] },
  externalCalls: {
    sendTokens: [],
    sendAmounts: [],
    externalCallTargets: [],
    externalCallDataList: [],
    refundTokens: [],
    refundReceivers: [],
  },
  tokenPermits: [],
  fee: { feeToken: USDC, feeAmount: 250_000n, feeSwapPath: [MARKET] },
  userNonce: 1_800_000_000n,
  deadline: 1_800_003_600n,
  desChainId: BigInt(arbitrum.chainId),
}

const batch: Batch = {
  account: ZERO_ADDRESS,
  createOrderParamsList: [
    {
      addresses: {
        receiver: account.address,
        cancellationReceiver: ZERO_ADDRESS,
        callbackContract: ZERO_ADDRESS,
        uiFeeReceiver: ZERO_ADDRESS,
        market: MARKET,
        initialCollateralToken: USDC,
        swapPath: [],
      },
      numbers: {
        sizeDeltaUsd: 10n ** 31n,
        initialCollateralDeltaAmount: 3_000_000n,
        triggerPrice: 0n,
        acceptablePrice: 1_818_000_000_000_000n,
        executionFee: 100_000_000_000_000n,
        callbackGasLimit: 0n,
        minOutputAmount: 0n,
        validFromTime: 0n,
      },
      orderType: 2n,
      decreasePositionSwapType: 0n,
      isLong: true,
      shouldUnwrapNativeToken: false,
      autoCancel: false,
      referralCode: ZERO_HASH,
      dataList: ['0x676d786f3a313a303a303030303a30313a303a31000000000000000000000000'],
    },
  ],
  updateOrderParamsList: [],
  cancelOrderKeys: [],
  relayParams: hashRelayParams(relayParams),
  subaccountApproval: ZERO_HASH,
}

const separator = domainSeparator(arbitrum.chainId, router)
const digest = digestOf(separator, batch)
const signature = signDigest(privateKey, digest)
const typedData = {
  domain: relayRouterDomain(arbitrum.chainId, router),
  types: batchTypes,
  primaryType: 'Batch',
  message: batch,
} as const

const relayParamsAbi = parseAbiParameters([
  'OracleParams oracleParams, ExternalCalls externalCalls, TokenPermit[] tokenPermits, FeeParams fee, uint256 userNonce, uint256 deadline, uint256 desChainId',
  'struct OracleParams { address[] tokens; address[] providers; bytes[] data; }',
  'struct ExternalCalls { address[] sendTokens; uint256[] sendAmounts; address[] externalCallTargets; bytes[] externalCallDataList; address[] refundTokens; address[] refundReceivers; }',
  'struct TokenPermit { address owner; address spender; uint256 value; uint256 deadline; uint8 v; bytes32 r; bytes32 s; address token; }',
  'struct FeeParams { address feeToken; uint256 feeAmount; address[] feeSwapPath; }',
])

function viemHashRelayParams(): Hex {
  const { oracleParams, externalCalls, tokenPermits, fee, userNonce, deadline, desChainId } = relayParams
  return keccak256(
    encodeAbiParameters(relayParamsAbi, [
      oracleParams,
      externalCalls,
      tokenPermits,
      fee,
      userNonce,
      deadline,
      desChainId,
    ]),
  )
}

/** Microseconds of one call: the best round, because other work on the machine only ever adds. */
async function microsecondsOf(work: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    let calls = 0
    let tookMs = 0
    while (tookMs < ROUND_MS) {
      for (let call = 0; call < 10; call += 1) {
        const answer = work()
        if (answer instanceof Promise) await answer
      }
      calls += 10
      tookMs = performance.now() - began
    }
    best = Math.min(best, (tookMs * 1000) / calls)
  }
  return best
}

const bytes = (length: number) => Uint8Array.from({ length }, (_, index) => index * 7)
const words = encodeRelayParams(relayParams)

const rows: [name: string, viem: () => unknown, ours: () => unknown][] = [
  ...[32, 256, 1248].map((length): [string, () => unknown, () => unknown] => {
    const input = bytes(length)
    return [`keccak of ${length} bytes`, () => keccak256(input), () => keccakOfBytes(input)]
  }),
  ['keccak of 1248 bytes in hex', () => keccak256(words), () => keccakOfHex(words)],
  ['hashRelayParams', viemHashRelayParams, () => hashRelayParams(relayParams)],
  ['digestOf a batch', () => hashTypedData(typedData), () => digestOf(separator, batch)],
  ['sign', () => account.sign({ hash: digest }), () => signDigest(privateKey, digest)],
  ['recover', () => recoverAddress({ hash: digest, signature }), () => recoverSigner(digest, signature)],
]

const table = [['us per call', 'viem', 'perpd', 'ratio']]
for (const [name, viem, ours] of rows) {
  const same = (await viem()) === (await ours())
  if (!same) throw new Error(`${name}: viem and perpd differ`)
  const [slow, fast] = [await microsecondsOf(viem), await microsecondsOf(ours)]
  table.push([name, slow.toFixed(1), fast.toFixed(1), (slow / fast).toFixed(1)])
}
process.stdout.write(`hashes with ${keccakSource}, signs with ${curveSource}\n`)
process.stdout.write(
  `${table.map(([name = '', ...cells]) => name.padEnd(28) + cells.map((cell) => cell.padStart(9)).join('')).join('\n')}\n`,
)

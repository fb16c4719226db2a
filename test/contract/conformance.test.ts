/**
 * The simulated chain against the contract: any history of messages, third parties and keepers has the same effects on
 * both. What the simulation proves of the order machine rests on this model of the chain.
 */
import fc from 'fast-check'
import { encodeFunctionData, hexToBigInt } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { epochMs } from '../../src/backtest/lab/timeline.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { encodeBatchCall } from '../../src/protocol/signing/relayCalldata.ts'
import {
  type Batch,
  digestOf,
  domainSeparator,
  hashRelayParams,
} from '../../src/protocol/signing/relayRouter.ts'
import { market, order, relayParams } from '../protocol/batches.ts'
import { type Message, ModelChain, type TxAction } from '../simulation/chainModel.ts'
import { randomOf } from '../simulation/random.ts'
import { type CallResult, createLocalChain, type LocalChain } from './localChain.ts'

const { gelatoRelayRouter, eventEmitter } = arbitrum.contracts
const separator = domainSeparator(arbitrum.chainId, gelatoRelayRouter)
const ownerKey: Hex = `0x${'11'.repeat(32)}`
const strangerKey: Hex = `0x${'33'.repeat(32)}`
const owner = privateKeyToAddress(ownerKey)
const stranger = privateKeyToAddress(strangerKey)
const missing: Hex = `0x${'ab'.repeat(32)}`
const startSeconds = epochMs / 1000

/** What a message does: creates orders, then updates and cancels those that earlier messages created. */
interface Plan {
  readonly creates: number
  readonly changes: readonly { readonly of: number; readonly how: 'OrderUpdated' | 'OrderCancelled' }[]
  readonly deadlineInSeconds: number
}

type Step = { readonly afterSeconds: number } & (
  | { readonly do: 'send' | 'foreign'; readonly message: number }
  | {
      readonly do: 'keeper'
      readonly order: number
      readonly event: 'OrderExecuted' | 'OrderCancelled' | 'OrderFrozen'
    }
)

/** One of the two chains, driven by the same words. */
interface Side {
  /** The effect in a word: `ok`, or the name of the error. */
  run(step: Step, atSeconds: number): Promise<string>
  /** Digests that are used, and how each order stands, in order of creation. */
  facts(): Promise<readonly string[]>
}

const deadlineOf = ({ deadlineInSeconds }: Plan) => startSeconds + deadlineInSeconds

async function contractSide(chain: LocalChain, plans: readonly Plan[], salt: bigint): Promise<Side> {
  const built = new Map<number, { readonly batch: Batch; readonly digest: Hex }>()
  const keys: Hex[] = []
  const abi = chain.contracts.Venue?.abi ?? []

  const paramsOf = (index: number) => ({
    ...relayParams,
    userNonce: salt * 100n + BigInt(index),
    deadline: BigInt(deadlineOf(plans[index] as Plan)),
  })

  /** A message is signed when it is first sent; from then on its bytes stay. */
  function messageOf(index: number): { readonly batch: Batch; readonly digest: Hex } {
    const known = built.get(index)
    if (known !== undefined) return known
    const plan = plans[index] as Plan
    const keyOf = (of: number) => keys[of] ?? missing
    const batch: Batch = {
      account: `0x${'00'.repeat(20)}`,
      createOrderParamsList: Array.from({ length: plan.creates }, () => ({
        ...order,
        addresses: { ...order.addresses, receiver: owner },
      })),
      updateOrderParamsList: plan.changes
        .filter(({ how }) => how === 'OrderUpdated')
        .map(({ of }) => ({
          key: keyOf(of),
          sizeDeltaUsd: 1n,
          acceptablePrice: 0n,
          triggerPrice: 0n,
          minOutputAmount: 0n,
          validFromTime: 0n,
          autoCancel: false,
          executionFeeIncrease: 0n,
        })),
      cancelOrderKeys: plan.changes.filter(({ how }) => how === 'OrderCancelled').map(({ of }) => keyOf(of)),
      relayParams: hashRelayParams(paramsOf(index)),
      subaccountApproval: `0x${'00'.repeat(32)}`,
    }
    const message = { batch, digest: digestOf(separator, batch) }
    built.set(index, message)
    return message
  }

  function call(step: Step): { readonly to: Address; readonly data: Hex } {
    if (step.do === 'keeper') {
      const key = keys[step.order] ?? missing
      const data =
        step.event === 'OrderExecuted'
          ? encodeFunctionData({ abi, functionName: 'executeOrder', args: [key] })
          : encodeFunctionData({
              abi,
              functionName: 'failOrder',
              args: [key, step.event === 'OrderFrozen', '0x'],
            })
      return { to: eventEmitter, data }
    }
    const { batch, digest } = messageOf(step.message)
    const [account, key] = step.do === 'send' ? [owner, ownerKey] : [stranger, strangerKey]
    const signature = signDigest(key, digest)
    const data = encodeBatchCall({ account, relayParams: paramsOf(step.message), signature, batch })
    return { to: gelatoRelayRouter, data }
  }

  return {
    async run(step, atSeconds) {
      const [result] = (await chain.mine(atSeconds, [call(step)])) as [CallResult]
      if (!result.ok) return result.revert
      const created = step.do === 'send' ? (plans[step.message] as Plan).creates : 0
      // bytes32[]: offset, length, keys.
      for (let at = 0; at < created; at += 1) {
        keys.push(`0x${result.returned.slice(2 + (2 + at) * 64, 2 + (3 + at) * 64)}`)
      }
      return 'ok'
    },
    async facts() {
      const used = await Promise.all(
        plans.map(async (_plan, index) => {
          const { digest } = built.get(index) ?? { digest: missing }
          const word = await chain.read({ to: gelatoRelayRouter, data: `0x01ac4293${digest.slice(2)}` })
          return `${index} ${hexToBigInt(word) === 1n ? 'used' : 'unused'}`
        }),
      )
      const orders: string[] = []
      for (const key of keys) {
        const data = encodeFunctionData({ abi, functionName: 'orders', args: [key] })
        const words = await chain.read({ to: eventEmitter, data })
        const isThere = hexToBigInt(words.slice(0, 66) as Hex) !== 0n
        const isFrozen = hexToBigInt(`0x${words.slice(66, 130)}`) === 1n
        orders.push(isThere ? (isFrozen ? 'frozen' : 'open') : 'ended')
      }
      return [...used, ...orders]
    },
  }
}

function modelSide(plans: readonly Plan[]): Side {
  const chain = new ModelChain(randomOf(1, 'chain'), { finalityMs: 60_000, skewMs: 0 })
  const built = new Map<number, Message>()
  const keys = () => [...chain.canonical.orders.keys()]

  function messageOf(index: number): Message {
    const known = built.get(index)
    if (known !== undefined) return known
    const plan = plans[index] as Plan
    const spec = {
      role: 'main',
      orderType: 2,
      marketToken: market,
      direction: 'long',
      sizeDeltaUsd: 1n,
      adds: true,
    } as const
    const message: Message = {
      digest: chain.freshHash(),
      signature: '0x',
      deadlineSeconds: deadlineOf(plan),
      userNonce: BigInt(index),
      intentId: String(index),
      creates: Array.from({ length: plan.creates }, () => spec),
      changes: [...plan.changes]
        // The router updates before it cancels.
        .sort((one, other) => other.how.localeCompare(one.how))
        .map(({ of, how }) => ({ orderKey: keys()[of] ?? missing, event: how })),
      revertsLeft: 0,
    }
    built.set(index, message)
    return message
  }

  function actionOf(step: Step): TxAction {
    if (step.do === 'keeper') {
      return { kind: 'keeper', orderKey: keys()[step.order] ?? missing, event: step.event, reason: '' }
    }
    const message = messageOf(step.message)
    if (step.do === 'send') return { kind: 'batch', message, showsSignature: true }
    const { digest, deadlineSeconds, userNonce } = message
    return { kind: 'foreign', digest, deadlineSeconds, userNonce }
  }

  return {
    async run(step, atSeconds) {
      const tx = { hash: chain.freshHash(), action: actionOf(step) }
      const [result] = chain.mine((atSeconds - startSeconds) * 1000, [tx])
      return result?.ok === true ? 'ok' : (result?.revert ?? 'nothing')
    },
    async facts() {
      const { uses, orders } = chain.canonical
      const used = plans.map((_plan, index) => {
        const message = built.get(index)
        return `${index} ${message !== undefined && uses.has(message.digest) ? 'used' : 'unused'}`
      })
      const states = [...orders.values()].map(({ state }) =>
        state === 'executed' || state === 'cancelled' ? 'ended' : state,
      )
      return [...used, ...states]
    },
  }
}

const messages = 4
const anyPlan: fc.Arbitrary<Plan> = fc
  .record({
    creates: fc.integer({ min: 0, max: 2 }),
    changes: fc.array(
      fc.record({
        of: fc.integer({ min: 0, max: 3 }),
        how: fc.constantFrom('OrderUpdated' as const, 'OrderCancelled' as const),
      }),
      { maxLength: 1 },
    ),
    deadlineInSeconds: fc.integer({ min: 5, max: 60 }),
  })
  .filter(({ creates, changes }) => creates + changes.length > 0)
const afterSeconds = fc.constantFrom(0, 1, 1, 2, 5, 10)
const anyStep = (plans: readonly Plan[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      arbitrary: fc.record({
        do: fc.constant('send' as const),
        message: fc.integer({ min: 0, max: messages - 1 }),
        afterSeconds,
      }),
      weight: 5,
    },
    {
      // Of a message that changes orders a stranger's copy reverts: they are not his.
      arbitrary: fc.record({
        do: fc.constant('foreign' as const),
        message: fc
          .integer({ min: 0, max: messages - 1 })
          .map((index) =>
            plans[index]?.changes.length === 0
              ? index
              : plans.findIndex(({ changes }) => changes.length === 0),
          )
          .map((index) => Math.max(index, 0)),
        afterSeconds,
      }),
      weight: plans.some(({ changes }) => changes.length === 0) ? 1 : 0,
    },
    {
      arbitrary: fc.record({
        do: fc.constant('keeper' as const),
        order: fc.integer({ min: 0, max: 4 }),
        event: fc.constantFrom('OrderExecuted' as const, 'OrderCancelled' as const, 'OrderFrozen' as const),
        afterSeconds,
      }),
      weight: 4,
    },
  )
const anyHistory = fc.array(anyPlan, { minLength: messages, maxLength: messages }).chain((plans) =>
  fc.record({
    plans: fc.constant(plans),
    steps: fc.array(anyStep(plans), { minLength: 4, maxLength: 14 }),
  }),
)

/** The model has one word for what passes; the contract names it. */
const wordOf = (verdict: string) => (verdict === 'OrderAlreadyFrozen' ? 'Passing' : verdict)

let contract: LocalChain
beforeAll(async () => {
  contract = await createLocalChain(startSeconds)
}, 60_000)

/** Runs a history on both, from one block of the contract's on, and gives what came of each step. */
async function compare(
  plans: readonly Plan[],
  steps: readonly Step[],
  salt: bigint,
): Promise<readonly string[]> {
  const sides = [await contractSide(contract, plans, salt), modelSide(plans)] as const
  const from = contract.tip.number
  let atSeconds = startSeconds
  const verdicts: string[] = []
  try {
    for (const step of steps) {
      atSeconds += step.afterSeconds
      const [one, other] = await Promise.all(sides.map((side) => side.run(step, atSeconds)))
      expect(`${step.do} ${wordOf(one ?? '')}`).toBe(`${step.do} ${other}`)
      verdicts.push(wordOf(one ?? ''))
    }
    expect(await sides[0].facts()).toEqual(await sides[1].facts())
  } finally {
    await contract.takeBack(Number(contract.tip.number - from))
  }
  return verdicts
}

test('any history of messages, strangers and keepers has the same effects on the contract and on the simulated chain', async () => {
  const seen = new Map<string, number>()
  let salt = 0n
  await fc.assert(
    fc.asyncProperty(anyHistory, async ({ plans, steps }) => {
      salt += 1n
      for (const verdict of await compare(plans, steps, salt)) seen.set(verdict, (seen.get(verdict) ?? 0) + 1)
    }),
    { numRuns: 60, seed: 12 },
  )
  expect([...seen.keys()].sort()).toEqual([
    'DeadlinePassed',
    'EmptyOrder',
    'InvalidUserDigest',
    'Passing',
    'ok',
  ])
}, 60_000)

const creates = (count: number, deadlineInSeconds = 30): Plan => ({
  creates: count,
  changes: [],
  deadlineInSeconds,
})
const changes = (of: number, how: 'OrderUpdated' | 'OrderCancelled', count = 0): Plan => ({
  creates: count,
  changes: [{ of, how }],
  deadlineInSeconds: 30,
})
const send = (message: number, after = 1): Step => ({ do: 'send', message, afterSeconds: after })
const keeper = (at: number, event: 'OrderExecuted' | 'OrderCancelled' | 'OrderFrozen'): Step => ({
  do: 'keeper',
  order: at,
  event,
  afterSeconds: 1,
})

test.each<[string, readonly Plan[], readonly Step[], readonly string[]]>([
  ['lands in the block of its deadline', [creates(1, 30)], [send(0, 30)], ['ok']],
  ['is dead a second later', [creates(1, 30)], [send(0, 31)], ['DeadlinePassed']],
  ['lands once', [creates(2)], [send(0), send(0)], ['ok', 'InvalidUserDigest']],
  [
    'can be used up by a third party, and then creates nothing of ours',
    [creates(1)],
    [{ do: 'foreign', message: 0, afterSeconds: 1 }, send(0)],
    ['ok', 'InvalidUserDigest'],
  ],
  [
    'reverts whole when the order that it cancels is gone, and its digest stays unused',
    [creates(1), changes(0, 'OrderCancelled', 2)],
    [send(0), keeper(0, 'OrderExecuted'), send(1), send(1)],
    ['ok', 'ok', 'EmptyOrder', 'EmptyOrder'],
  ],
  [
    'of two cancels of one order lands the first',
    [creates(1), changes(0, 'OrderCancelled'), changes(0, 'OrderCancelled')],
    [send(0), send(1), send(2), keeper(0, 'OrderExecuted')],
    ['ok', 'ok', 'EmptyOrder', 'EmptyOrder'],
  ],
  [
    'frees a frozen order by an update, and a frozen order may be executed',
    [creates(1), changes(0, 'OrderUpdated')],
    [
      send(0),
      keeper(0, 'OrderFrozen'),
      keeper(0, 'OrderFrozen'),
      send(1),
      keeper(0, 'OrderFrozen'),
      keeper(0, 'OrderExecuted'),
    ],
    ['ok', 'ok', 'Passing', 'ok', 'ok', 'ok'],
  ],
])('a message %s', async (_name, plans, steps, wanted) => {
  expect(await compare(plans, steps, 900_000n + BigInt(steps.length) * 10n + BigInt(plans.length))).toEqual(
    wanted,
  )
})

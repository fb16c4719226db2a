/** Records of made-up intents, for tests and the bench: whole stories that fold. */
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { ArmedFacts, Closing, Evidence, Intent } from '../../src/domain/order/intent.ts'
import { shrunkTo } from '../../src/domain/order/warning.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Hex } from '../../src/protocol/address.ts'

const router = '0x82b21f0a1dc97c4ae1b24d3e1c7d6a2b9e1f0a11'
const account = '0x1111111111111111111111111111111111111111'

/** 32 bytes of hex made from a text, the same for the same text. */
export function hexOf(text: string): Hex {
  return `0x${Buffer.from(text).toString('hex').padStart(64, '0').slice(-64)}`
}

function evidenceAt(atMs: number): Evidence {
  return { level: 'api', atMs, statement: 'seen in a test' }
}

function intentOf(n: number, fields: Partial<Intent> = {}): Intent {
  const indexToken = {
    symbol: 'ETH',
    address: '0x2222222222222222222222222222222222222222',
    decimals: 18,
  } as const
  const marketToken = '0x3333333333333333333333333333333333333333'
  return {
    intentId: `intent-${n}`,
    decisionKey: `key-${n}`,
    strategy: 'trend',
    account,
    chain: 'arbitrum',
    lane: 'order-chain',
    kind: 'increase',
    decision: {
      kind: 'increase',
      marketToken,
      direction: 'long',
      reason: 'the price rose; {"$bigint":"7"} is only text here',
      sizeDeltaUsd: 10n ** 33n,
      leverageBps: 20_000,
      collateralToken: indexToken.address,
    },
    terms: {
      orderType: 'market',
      symbol: 'ETH/USD [WETH-USDC]',
      marketToken,
      indexToken,
      direction: 'long',
      collateralToken: indexToken,
      sizeDeltaUsd: 10n ** 33n,
      collateralDelta: 10n ** 17n,
      keepLeverage: false,
      slippageBps: 50,
      referencePrice: 3_000n * 10n ** 30n,
    },
    sizing: { wantedUsd: 10n ** 33n, sizeDeltaUsd: 10n ** 33n, cuts: [], dataAgeMs: 12 },
    reservationUsd: 10n ** 33n,
    expiresAtMs: 1_800_000_060_000 + n,
    acceptedAtMs: 1_800_000_000_000 + n,
    ...fields,
  }
}

function armedOf(n: number, attempt: number, fields: Partial<ArmedFacts> = {}): ArmedFacts {
  return {
    host: 'http://127.0.0.1:1',
    requestId: `request-${n}-${attempt}`,
    router,
    digest: hexOf(`digest-${n}-${attempt}`),
    deadlineSeconds: 1_800_000_300,
    userNonce: BigInt(n) * 10n + BigInt(attempt),
    signature: `0x${'ab'.repeat(65)}`,
    acceptableContractPrice: 3_015_000_000_000_000n,
    executionFee: 10n ** 15n,
    relayFeeToken: '0x4444444444444444444444444444444444444444',
    relayFeeAmount: 10n ** 5n,
    creates: [],
    validationWarnings: [],
    comparedFields: 0,
    leaseEpoch: 1,
    ...fields,
  }
}

const executed: Closing = {
  outcome: 'EXECUTED',
  code: 'EXECUTED',
  reason: 'the order was executed',
  evidence: evidenceAt(0),
}

/** Records of one intent, each made when it is asked for. */
export function storyOf(n: number, fields: Partial<Intent> = {}) {
  const intent = intentOf(n, fields)
  const { intentId } = intent
  const at = (step: number) => ({ v: RECORD_VERSION, atMs: intent.acceptedAtMs + step, intentId }) as const
  const orderKey = hexOf(`order-${n}`)
  return {
    intent,
    intentId,
    accepted: (): JournalRecord => ({ ...at(0), kind: 'intent.accepted', intent }),
    preparing: (attempt = 1): JournalRecord => ({
      ...at(1),
      kind: 'attempt.preparing',
      attempt,
      lane: 'order-chain',
      host: 'http://127.0.0.1:1',
    }),
    /** Warned of, and made smaller by half. */
    warned: (attempt = 1): JournalRecord => ({
      ...at(1),
      kind: 'attempt.warned',
      attempt,
      warned: {
        host: 'http://127.0.0.1:1',
        requestId: `request-${n}-${attempt}`,
        warnings: [{ code: 'INSUFFICIENT_LIQUIDITY', message: 'too large', action: 'shrink' }],
        action: 'shrink',
        shrunk: shrunkTo(intent, intent.terms.sizeDeltaUsd / 2n, 'INSUFFICIENT_LIQUIDITY'),
      },
    }),
    armed: (attempt = 1, armed: Partial<ArmedFacts> = {}): JournalRecord => ({
      ...at(2),
      kind: 'attempt.armed',
      attempt,
      armed: armedOf(n, attempt, armed),
    }),
    sent: (attempt = 1): JournalRecord => ({
      ...at(3),
      kind: 'send.result',
      attempt,
      send: { result: 'accepted', taskId: `task-${n}` },
    }),
    dead: (attempt = 1): JournalRecord => ({
      ...at(4),
      kind: 'attempt.dead',
      attempt,
      evidence: evidenceAt(4),
    }),
    landed: (attempt = 1): JournalRecord => ({
      ...at(5),
      kind: 'landed',
      attempt,
      orderKeys: [orderKey],
      roles: ['main'],
      evidence: evidenceAt(5),
    }),
    childExecuted: (attempt = 1): JournalRecord => ({
      ...at(6),
      kind: 'child.executed',
      attempt,
      child: 0,
      orderKey,
      evidence: evidenceAt(6),
      settlement: { executionPrice: 3_001n * 10n ** 30n, pnlUsd: -5n },
    }),
    closed: (): JournalRecord => ({ ...at(7), kind: 'intent.closed', closing: executed }),
  }
}

/** All records of an order that went well, in order. */
export function wholeStory(n: number, fields: Partial<Intent> = {}): readonly JournalRecord[] {
  const story = storyOf(n, fields)
  return [
    story.accepted(),
    story.preparing(),
    story.armed(),
    story.sent(),
    story.landed(),
    story.childExecuted(),
    story.closed(),
  ]
}

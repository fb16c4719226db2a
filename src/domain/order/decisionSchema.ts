/**
 * Decisions that a strategy may make: a schema each, with the meaning of every field. The types of `decision.ts`, the check of what a user's code
 * returns (`strategy/decisionProblem.ts`) and docs/reference/strategies.md derive from it. An optional field may also be there as undefined.
 */
import { z } from 'zod'
import type { BatchTerms } from '../../protocol/batch.ts'
import {
  address,
  explained,
  leverageBps,
  orderKey,
  sideDirection,
  tokenAmount,
  usdAmount,
  usdPrice,
  whole,
  words,
} from './decisionValues.ts'

/** Possible faults of a resting order. */
export const untidyCauses = [
  'stale',
  'unreachable',
  'orphaned',
  'oversized',
  'behind-liquidation',
  'other',
] as const

/** First fields of a decision on one side of one market. */
const onSide = <Kind extends string>(kind: Kind) => ({
  kind: z.literal(kind),
  direction: sideDirection.describe('Side of the market.'),
  marketToken: address.describe('Market.'),
})

const ofPosition = address.describe(
  'Collateral token of the position; one market side can have two positions.',
)
const anyList = z.array(z.unknown()).meta(words({ expected: 'a list' }))

/** Parts of a twap order (docs/reference/api-coverage.md POST /orders/txns/prepare). */
export const twapTerms = z.strictObject({
  parts: whole(2, 30).describe('Number of parts.'),
  // The venue's unit is not documented; whole minutes mean the same in seconds and in minutes.
  durationSeconds: z
    .int()
    .positive()
    .multipleOf(60)
    .meta(words({ expected: 'whole seconds, a multiple of 60 above 0' }))
    .describe('Time from the first part to the last.'),
})

/** A take-profit or stop-loss that is created with an increase and closes its share of it. */
export const exitRequest = z
  .strictObject({
    type: z.enum(['take-profit', 'stop-loss']).describe('Type of the exit.'),
    triggerPrice: usdPrice.describe('Price at which it fires.'),
    shareBps: z
      .int()
      .meta(words({ expected: 'whole basis points of the size, 10000 = all of it' }))
      .exactOptional()
      .describe('Share of the admitted size that it closes; all of it when absent.'),
  })
  .meta(words({ name: 'an exit' }))

interface Typed {
  readonly orderType?: string
  readonly triggerPrice?: unknown
  readonly twap?: unknown
  readonly tpsl?: unknown
}

/** Holds an order type and its fields together: waiting orders have a trigger, a twap has its parts and no exits. */
function fitsType(decision: Typed, context: z.RefinementCtx): void {
  const { orderType = 'market' } = decision
  const isTwap = orderType === 'twap'
  const hold = (field: 'triggerPrice' | 'twap' | 'tpsl', isWanted: boolean, expected: string) => {
    if ((decision[field] !== undefined) === isWanted) return
    const message = isWanted ? expected : 'nothing for this order type'
    context.addIssue({ code: 'custom', path: [field], message, input: decision[field] })
  }
  if (isTwap) hold('tpsl', false, '')
  hold('triggerPrice', !isTwap && orderType !== 'market', 'a price for this order type')
  hold('twap', isTwap, 'its parts')
}

const increase = z
  .strictObject({
    ...onSide('increase'),
    collateralToken: address.describe(
      "Token that pays and backs the position: the market's long or short token.",
    ),
    sizeDeltaUsd: usdAmount.describe('Requested size; risk may cut it to capacity and limits.'),
    leverageBps: leverageBps.describe('Collateral brought = size / leverage.'),
    orderType: z
      .enum(['market', 'limit', 'stop-market', 'twap'])
      .exactOptional()
      .describe(
        '`market` when absent. `limit` waits for a better price, `stop-market` (a stop entry) for a worse one; `twap` comes in equal parts. Waiting orders reserve their full size until they end.',
      ),
    tpsl: z
      .array(exitRequest)
      .meta(words({ members: 'exits' }))
      .readonly()
      .exactOptional()
      .describe(
        'Exits to create with it; not with a twap. They see the whole position of their side: with several increases resting on one side, the exit of one may close the position of another.',
      ),
    expectedEdgeBps: z
      .int()
      .min(0)
      .meta(words({ expected: 'whole basis points of the size, 0 or more' }))
      .exactOptional()
      .describe(
        'Expected profit before costs: compared with `protect.minEdgeBps` of the file. Absent: the distance to its nearest take-profit.',
      ),
    ...explained,
    triggerPrice: usdPrice.exactOptional().describe('Price at which a limit or stop entry fires.'),
    twap: twapTerms.exactOptional().describe('Parts of a twap.'),
  })
  .superRefine(fitsType)
  .describe('Open or add to a position.')

const decrease = z
  .strictObject({
    ...onSide('decrease'),
    collateralToken: ofPosition,
    sizeDeltaUsd: usdAmount.describe(
      "Size to reduce; never more than the position has, nor than the instance's own part of it.",
    ),
    keepLeverage: z
      .boolean()
      .describe(
        'True withdraws collateral pro rata so that leverage stays; false leaves it, so that leverage falls.',
      ),
    orderType: z
      .enum(['market', 'take-profit', 'stop-loss', 'twap'])
      .exactOptional()
      .describe('`market` when absent.'),
    ...explained,
    triggerPrice: usdPrice.exactOptional().describe('Price at which a take-profit or stop-loss fires.'),
    twap: twapTerms.exactOptional().describe('Parts of a twap.'),
  })
  .superRefine(fitsType)
  .describe('Reduce a position by a part, now or when a price is reached.')

const close = z
  .strictObject({ ...onSide('close'), collateralToken: ofPosition, ...explained })
  .describe(
    'Close a position with a market order: of an instance that opens positions its own part, of a keeper and the operator the whole (docs/books.md).',
  )

const swap = z
  .strictObject({
    ...onSide('swap'),
    payAmount: tokenAmount.describe('Paid amount; never more than the account has.'),
    ...explained,
  })
  .describe(
    "Swap one token of a market's pool into the other, at once. `long` buys the long token with the short one, `short` sells it. Needs `balances` in the strategy's needs.",
  )

const edit = z
  .strictObject({
    ...onSide('edit'),
    orderKey: orderKey.describe('Order to change.'),
    sizeDeltaUsd: usdAmount.exactOptional().describe('New size.'),
    triggerPrice: usdPrice.exactOptional().describe('New trigger.'),
    ...explained,
  })
  .describe(
    "Change a resting order of the strategy's own; absent fields stay. The acceptable price follows the trigger.",
  )

const cancel = z
  .strictObject({
    ...onSide('cancel'),
    orderKeys: z
      .array(orderKey)
      .meta(words({ members: 'order keys' }))
      .readonly()
      .describe('Orders to cancel.'),
    ...explained,
  })
  .describe("Cancel resting orders of the strategy's own.")

const moved = {
  collateralToken: ofPosition,
  amount: tokenAmount.describe('Amount of the collateral token.'),
  ...explained,
}
const collateralIn = z
  .strictObject({ ...onSide('collateral-in'), ...moved })
  .describe('Pay collateral into a position.')
const collateralOut = z
  .strictObject({ ...onSide('collateral-out'), ...moved })
  .describe('Take collateral out of a position, which raises its leverage.')

const batch = z
  .strictObject({
    ...onSide('batch'),
    batch: (
      z.strictObject({
        createOrderParamsList: anyList.describe('Orders to create.'),
        updateOrderParamsList: anyList.describe('Changes of orders.'),
        cancelOrderKeys: anyList.describe('Orders to cancel.'),
      }) as unknown as z.ZodType<BatchTerms>
    ).describe('Orders to create, change and cancel, in the terms of the relay router.'),
    ...explained,
  })
  .describe("A message of the strategy's own; all or nothing, and for accounts on the relay lane alone.")

const reportOrder = z
  .strictObject({
    ...onSide('report-order'),
    orderKey: orderKey.describe('Reported order.'),
    cause: z.enum(untidyCauses).describe('Fault of the order; the metric counts by it.'),
    isOver: z.boolean().describe('True once the reported fault is over.'),
    ...explained,
  })
  .describe('Notifies people of a resting order, whoever made it: by the log, a metric and a notice.')

const unwind = z
  .strictObject({
    kind: z.literal('unwind'),
    intentId: z
      .string()
      .min(1)
      .meta(words({ expected: 'the id of an open order' }))
      .describe('Id from `openIntents`.'),
    ...explained,
  })
  .describe(
    'Undoes an order of the strategy if it lands: once its signature left it cannot be called back. Unsigned messages of it are not signed any more. Its resting orders are cancelled and its position is closed, at most once and over restarts.',
  )

const taskLabel = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,40}$/)
  .meta(words({ expected: '1 to 40 letters, digits, dots, dashes or underscores' }))

/** The decision that begins a task, by the schema of its tasks. */
export const startTaskOf = <Task extends z.ZodType>(task: Task) =>
  z
    .strictObject({
      kind: z.literal('start-task'),
      label: taskLabel.describe(
        'Label of the task, for ever: a repeated request under the same label does not start it twice.',
      ),
      task: task.describe('Kind and parameters of the task.'),
      ...explained,
    })
    .describe("Begins a task that makes orders over time, in the strategy's name (docs/own-kinds.md).")

const stopTask = z
  .strictObject({
    kind: z.literal('stop-task'),
    label: taskLabel.describe('Label of the task.'),
    ...explained,
  })
  .describe('Ends a task of the strategy: it makes no more orders, and its resting orders are cancelled.')

const prepareApproval = z
  .strictObject({
    kind: z.literal('prepare-approval'),
    actions: whole(1, 1_000_000).describe('Actions beyond those that are used.'),
    days: whole(1, 365).describe('Days that it lasts.'),
    ...explained,
  })
  .describe("Writes the renewal of the delegated key's approval to a file, for the owner to sign.")

const prepareClaim = z
  .strictObject({
    kind: z.literal('prepare-claim'),
    aboveUsd: usdAmount.describe('Worth from which the claim is written.'),
    ...explained,
  })
  .describe(
    "Writes the claim of amounts that the venue put aside for the account to a file for the owner's wallet, once they reach a worth.",
  )

/** Every decision but the start of a task, in the order of the page. */
export const decisionSchemas = [
  increase,
  decrease,
  close,
  swap,
  edit,
  cancel,
  collateralIn,
  collateralOut,
  batch,
  unwind,
  stopTask,
  prepareApproval,
  prepareClaim,
  reportOrder,
] as const

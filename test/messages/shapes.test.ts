/**
 * Prepare answers as the venue's client library builds them, one by one: full closes, kept leverage, exits, spikes of gas, thin
 * markets, and messages that harm. Each says what it shows; `npm run messages -- FILE...` runs whole files of the kind.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { judge } from './judge.ts'
import { type MessageCase, type RefusalClass, readMessages, type Want } from './schema.ts'

const path = join(import.meta.dirname, '..', 'fixtures', 'messages.json')
const cases = new Map(readMessages(path).map((one) => [one.id, one]))

function caseOf(id: string) {
  const found = cases.get(id)
  if (found === undefined) throw new Error(`test/fixtures/messages.json has no case ${id}`)
  return found
}

/** What is signed, and the case that shows it. */
const signed: readonly (readonly [string, string])[] = [
  ['A first market increase pays exactly what was asked', 'increase-market-arbi-long-001'],
  ['A short grows on top of a position that is held', 'increase-market-arbi-short-adding-001'],
  [
    'A market of one token for both sides takes an increase at 30 bps of slippage',
    'increase-market-mega-long-002',
  ],
  ['60 bps of impact in a thin market move the acceptable price of an increase', 'increase-impact-60bps-001'],
  ['A limit has its slippage on top of the impact that it names', 'increase-limit-arbi-long-005'],
  ['A limit that names no impact has the default buffer', 'increase-limit-arbi-short-004'],
  ['A stop entry takes any price of its side', 'increase-stop-market-aval-long-001'],
  ["The host's price lies 25 bps from ours", 'increase-drift-002'],
  ['Gas above calm is still within the limits of an increase', 'increase-gas-within-002'],
  ['A stop of the whole that comes with an increase carries all of the collateral', 'increase-exits-sdk-002'],
  ['A whole exit says the largest uint256 for its size', 'increase-exits-max-003'],
  ['Exits come without collateral, and in another order than they were asked for', 'increase-exits-zero-003'],
  ['An exit of a part carries its share of the collateral', 'increase-exits-sdk-keep-001'],
  ['The parts of a twap are equal, rounded down, and due one after the other', 'twap-increase-001'],
  ['Each part of a twap of the whole position carries its share of the collateral', 'twap-decrease-006'],
  ['The parts of a twap of a part carry no collateral', 'twap-decrease-005'],
  ['A full close in profit carries all of the collateral though leverage is kept', 'close-full-profit-001'],
  ['So does one of a short with collateral of the long token', 'close-full-profit-004'],
  ['A full close in loss carries all of the collateral', 'close-full-loss-003'],
  ['So does one of a position that is worth nothing any more', 'close-full-insolvent-002'],
  ['So does one with fees pending', 'close-full-fees-005'],
  ['A full close in a thin market sells 60 bps lower', 'close-impact-60bps-001'],
  ['A full close of a short in a thin market buys 60 bps higher', 'close-impact-60bps-004'],
  ['A close goes out for $4 in a spike of gas', 'close-gas-4usd-001'],
  ['A close goes out for $20 in a spike of gas', 'close-gas-20usd-002'],
  ['A part goes out for $10 in a spike of gas', 'decrease-gas-10usd-001'],
  ['Leverage that is kept takes more than its share where profit pays the costs', 'decrease-keep-profit-001'],
  ['Leverage that is kept takes pending fees too', 'decrease-keep-profit-005'],
  ['Leverage that is kept takes less in a loss', 'decrease-keep-loss-004'],
  ['A part in loss whose leverage is not kept carries nothing', 'decrease-part-loss-003'],
  ['A part that would leave less than $1 becomes the whole', 'decrease-becomes-whole-001'],
  ['A part in loss that would leave too little collateral becomes the whole', 'decrease-becomes-whole-006'],
  ['A take-profit of the whole says the largest uint256', 'take-profit-whole-005'],
  ['A take-profit that names no impact lies at what the size moves the market', 'take-profit-whole-004'],
  ['A stop-loss of the whole says the largest uint256', 'stop-loss-whole-004'],
  ['A stop-loss of a part takes its share with fees pending', 'stop-loss-part-002'],
  ['Collateral goes in', 'collateral-in-003'],
  ['Collateral comes out with a least output in USD', 'collateral-out-min-output-002'],
  ['Collateral comes out without a least output', 'collateral-out-003'],
  ['The "any price" of an edited stop comes divided by the unit of the token', 'edit-trigger-009'],
  ['An edit asks for a higher execution fee and gets it', 'edit-trigger-011'],
  ['A frozen stop is edited', 'edit-trigger-015'],
  ['An edit of the size leaves all else as it is stored', 'edit-size-001'],
  ['Several orders are cancelled at once', 'cancel-several-001'],
  ['A swap goes through one market', 'swap-market-002'],
  ['A swap goes through two markets', 'swap-market-006'],
  ['A swap gives the native token', 'swap-market-003'],
  ['A session key closes with the approval that goes with its first message', 'session-signed-close-001'],
  ['A session key places a limit under an approval that is on the chain', 'session-empty-limit-001'],
]

const order = 'message.createOrderParamsList[0]'

/** What is refused, the case, the class, and a field that must be named. */
const refused: readonly (readonly [string, string, RefusalClass, string])[] = [
  ['A close that pays a stranger', 'refuse-receiver-002', 'tampered', `${order}.addresses.receiver`],
  ['An increase one hundredth larger', 'refuse-size-up-001', 'tampered', `${order}.numbers.sizeDeltaUsd`],
  [
    'A part turned to the whole without need',
    'refuse-part-to-whole-001',
    'tampered',
    `${order}.numbers.sizeDeltaUsd`,
  ],
  [
    'Collateral that leaves though leverage is not kept',
    'refuse-collateral-out-up-002',
    'tampered',
    `${order}.numbers.initialCollateralDeltaAmount`,
  ],
  ['A market buy at any price', 'refuse-price-any-001', 'tampered', `${order}.numbers.acceptablePrice`],
  ['A swap on the way into a position', 'refuse-swap-path-001', 'tampered', `${order}.addresses.swapPath`],
  ['A stop on another market', 'refuse-market-002', 'tampered', `${order}.addresses.market`],
  ['A stop at half of the price', 'refuse-trigger-002', 'tampered', `${order}.numbers.triggerPrice`],
  [
    'Collateral swapped into the other token',
    'refuse-swap-type-001',
    'tampered',
    `${order}.decreasePositionSwapType`,
  ],
  ['An increase instead of a close', 'refuse-order-type-001', 'tampered', `${order}.orderType`],
  [
    'Calls of other contracts',
    'refuse-external-calls-001',
    'tampered',
    'relayParams.externalCalls.externalCallTargets',
  ],
  ['A deadline in two years', 'refuse-deadline-002', 'tampered', 'relayParams.deadline'],
  [
    'Types whose fields have changed places',
    'refuse-types-001',
    'tampered',
    'typedData.types.CreateOrderNumbers',
  ],
  [
    'Another approval than the one that goes with it',
    'refuse-approval-001',
    'tampered',
    'message.subaccountApproval',
  ],
  ['An increase that rides along with a cancel', 'refuse-extra-order-003', 'tampered', order],
  ['A cancel of another order', 'refuse-cancel-key-001', 'tampered', 'message.cancelOrderKeys[0]'],
  [
    'A swap for half of its worth',
    'refuse-min-output-low-001',
    'tampered',
    `${order}.numbers.minOutputAmount`,
  ],
  [
    'A twap whose parts are all due at once',
    'refuse-twap-schedule-001',
    'tampered',
    'message.createOrderParamsList[1].numbers.validFromTime',
  ],
  [
    'A copy with a smaller fee than what is signed',
    'refuse-copy-relay-fee-001',
    'tampered',
    'message.relayParams',
  ],
  ['The price of a stale host', 'refuse-stale-price-002', 'price-moved', `${order}.numbers.acceptablePrice`],
  ['An offer that is over', 'refuse-expired-offer-001', 'expired', 'expiresAt'],
  [
    'An increase for $10 in a spike of gas',
    'refuse-too-dear-10usd-001',
    'too-dear',
    'relayParams.fee.feeAmount',
  ],
]

describe('what the venue sends is signed', () => {
  test.each(signed)('%s', (_sentence, id) => {
    const { verdict, differences, disagreement } = judge(caseOf(id))
    expect({ verdict, differences, disagreement }).toEqual({ verdict: 'sign', differences: [] })
  })
})

describe('what harms is refused, and named for what it is', () => {
  test.each(refused)('%s', (_sentence, id, kind, field) => {
    const { verdict, differences, disagreement } = judge(caseOf(id))
    expect({ verdict, disagreement }).toEqual({ verdict: kind })
    expect(differences.map((each) => each.field)).toContain(field)
  })
})

test('every case of the file has its sentence, once', () => {
  const told = [...signed, ...refused].map(([, id]) => id)
  expect([...told].sort()).toEqual([...cases.keys()].sort())
  for (const [, id] of signed) expect(caseOf(id).expect, id).toBe('sign')
  for (const [, id, kind] of refused) expect(caseOf(id).refusal?.class, id).toBe(kind)
})

describe('what a trader asks though no decision of ours says it', () => {
  /** The case with other decisions; message and copy say `update` in its only update, and the builder's inputs in USD. */
  function edited(id: string, want: Partial<Want>, update: Readonly<Record<string, unknown>>): MessageCase {
    const one = structuredClone(caseOf(id))
    const { payload } = one.prepared as {
      payload: {
        typedData: { message: { updateOrderParamsList: [object] } }
        batchParams: { updateOrderParams: [{ updatePayload: object; params: object }] }
      }
    }
    Object.assign(payload.typedData.message.updateOrderParamsList[0], update)
    const [copy] = payload.batchParams.updateOrderParams
    Object.assign(copy.updatePayload, update)
    const { triggerPrice } = update
    const inUsd = triggerPrice === undefined ? {} : { triggerPrice: `${triggerPrice}${'0'.repeat(18)}` }
    Object.assign(copy.params, { ...update, ...inUsd })
    return { ...one, want: { ...one.want, ...want } }
  }
  const verdictOf = (one: MessageCase) => {
    const { verdict, differences, byHand } = judge(one)
    return { verdict, fields: differences.map(({ field }) => field), byHand }
  }
  const stored = caseOf('edit-trigger-015').state.orders[0]
  const trigger = stored?.contractTriggerPrice
  const without: Partial<Want> = { newTriggerPrice: undefined } as object

  test('an edit of the flag alone is read, and its flag judged', () => {
    const wish: Partial<Want> = { ...without, newAutoCancel: false }
    const good = edited('edit-trigger-015', wish, { triggerPrice: trigger, autoCancel: false })
    const thawed = {
      ...good,
      state: { ...good.state, orders: [{ ...stored, isFrozen: false }] },
    } as MessageCase
    expect(verdictOf(thawed)).toEqual({ verdict: 'sign', fields: [], byHand: 'EDIT_CHANGES_NOTHING' })
    const bad = edited('edit-trigger-015', wish, { triggerPrice: trigger, autoCancel: true })
    expect(verdictOf(bad)).toMatchObject({
      verdict: 'tampered',
      fields: ['message.updateOrderParamsList[0].autoCancel'],
    })
  })

  test('a stop whose trigger the price has passed is read, and its trigger judged', () => {
    const newTriggerPrice = '2500000000000000000000000000000000'
    const good = edited('edit-trigger-015', { newTriggerPrice }, { triggerPrice: '2500000000000000' })
    expect(verdictOf(good)).toEqual({ verdict: 'sign', fields: [], byHand: 'TRIGGER_WOULD_FIRE' })
    const bad = edited('edit-trigger-015', { newTriggerPrice }, { triggerPrice: '2500000000000001' })
    expect(verdictOf(bad)).toMatchObject({
      verdict: 'tampered',
      fields: ['message.updateOrderParamsList[0].triggerPrice'],
    })
  })
})

describe('npm run messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-messages-'))
  const script = join(import.meta.dirname, 'run.ts')
  const run = (...files: readonly string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [script, ...files], { encoding: 'utf8' })
    return { status, stdout }
  }
  const written = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  test('says by tag how many agree, and ends with 0 when all do', () => {
    const { status, stdout } = run(path)
    expect(stdout).toContain(`${path}: ${cases.size} of ${cases.size} agree`)
    expect(stdout).toMatch(/^ {2}\(sign\) +49$/m)
    expect(stdout).toMatch(/^ {2}harm-payee +1$/m)
    expect(stdout).not.toContain('disagreements')
    expect(status).toBe(0)
  })

  test('ends with 1 on a file in which one case is expected otherwise, and names case and field', () => {
    const file: { cases: { id: string; expect: string }[] } = JSON.parse(readFileSync(path, 'utf8'))
    const flipped = file.cases.map((one) =>
      one.id === 'refuse-receiver-002' ? { ...one, expect: 'sign' } : one,
    )
    const { status, stdout } = run(written('flipped.json', JSON.stringify({ ...file, cases: flipped })))
    expect(stdout).toContain(`${cases.size - 1} of ${cases.size} agree`)
    expect(stdout).toContain('refuse-receiver-002 (arbitrum): tampered, expected sign')
    expect(stdout).toContain(`    ${order}.addresses.receiver: expected `)
    expect(status).toBe(1)
  })

  test('ends with 1 on a file that is no such file, and says what it is', () => {
    const file = written('wrong.json', '{ "schema": "gmx-mess')
    const { status, stdout } = run(file)
    expect(stdout).toContain(`${file} is not JSON: `)
    expect(status).toBe(1)
  })

  test.each([
    ['schema is "gmx-messages/2", expected "gmx-messages/1"', { schema: 'gmx-messages/2', cases: [] }],
    ['cases is no list with a case in it', { schema: 'gmx-messages/1', cases: [] }],
    ['cases[0].chain is missing', { schema: 'gmx-messages/1', cases: [{ id: 'one' }] }],
    [
      'cases[0].chain is base, which is none of ours',
      { schema: 'gmx-messages/1', cases: [{ ...caseOf('collateral-in-003'), chain: 'base' }] },
    ],
    [
      'cases[0].expect is maybe, expected sign or refuse',
      { schema: 'gmx-messages/1', cases: [{ ...caseOf('collateral-in-003'), expect: 'maybe' }] },
    ],
  ])('reads no file of which it must say: %s', (sentence, file) => {
    const wrong = written('wrong.json', JSON.stringify(file))
    expect(() => readMessages(wrong)).toThrow(`${wrong}: ${sentence}`)
  })

  test('ends with 1 on a file that is not there, and goes on with the next', () => {
    const { status, stdout } = run(join(folder, 'none.json'), path)
    expect(stdout).toContain('none.json cannot be read: ENOENT')
    expect(stdout).toContain(`${cases.size} of ${cases.size} agree`)
    expect(status).toBe(1)
  })

  test('ends with 1 on a case that makes no sense, names it, and judges the others', () => {
    const file: { cases: Record<string, unknown>[] } = JSON.parse(readFileSync(path, 'utf8'))
    const [first, ...others] = file.cases
    const broken = { ...first, state: {} }
    const { status, stdout } = run(
      written('broken.json', JSON.stringify({ ...file, cases: [broken, ...others] })),
    )
    expect(stdout).toContain('increase-market-arbi-long-001 (arbitrum): cannot be read: ')
    expect(stdout).toContain(`${cases.size - 1} of ${cases.size} agree`)
    expect(status).toBe(1)
  })

  test('without a file says how it is used', () => {
    expect(run()).toEqual({ status: 2, stdout: expect.stringContaining('usage: npm run messages') })
  })
})

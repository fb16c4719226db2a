/** Commands that an operator can give from the page: their forms with what the page knows of the moment. Pure: a dialog shows a command and sends it. */
import { type Level, type LevelKind, levelsOf, markOf } from './chart/chartLevels.ts'
import { chartTexts as chart } from './chart/chartTexts.ts'
import { plainPrice, typedPrice } from './chart/levelMoves.ts'
import { type FieldValues, formCommand, type formsAt, type PageCommand, percentBps } from './formCommand.ts'
import type { Fleet, LimitLine, Order, RestingOrder, Status, Task } from './pageWire.ts'
import { amountOf, placesOf, priceText, usdText } from './shownAmount.ts'
import { type ShownPosition, shownPositions, sideKeyOf } from './shownFigures.ts'
import { type Halt, isOfOneStrategy, mayBeLifted } from './shownHalts.ts'
import { texts } from './texts.ts'
import { ownerText } from './views/ownerText.ts'

const { commands: words } = texts

/**
 * Effects of resuming trading on these halts: the ones that it lifts and the ones that remain, a sentence each, by the daemon's own rules. `isMeant`:
 * tells whether the command reaches a halt at all.
 */
function liftingEffects(halts: readonly Halt[], isMeant: (halt: Halt) => boolean): readonly string[] {
  const isReleased = (halt: Halt) => isMeant(halt) && mayBeLifted(halt)
  const lifted = halts.filter(isReleased).map(({ cause }) => cause)
  const left = halts.filter((halt) => !isReleased(halt)).map(({ cause }) => texts.causes[cause])
  const isLoss = lifted.some((cause) => cause === 'daily-loss' || cause === 'drawdown')
  return [
    ...(lifted.includes('kill') ? [words.liftsKill] : []),
    ...(lifted.some((cause) => cause !== 'kill' && cause !== 'operator') ? [words.liftsBreakers] : []),
    ...(isLoss ? [words.acceptsLoss] : []),
    ...(left.length === 0 ? [] : [words.notLifted([...new Set(left)].join(', '))]),
  ]
}

/** Sets the trading state of all. Going on lifts what breakers and kills put on: that is typed. */
export function tradingCommand(
  state: 'active' | 'reducing' | 'halted',
  { halts, kill }: Status,
): PageCommand {
  const form = formCommand(state)
  if (state !== 'active') return { ...form, isStop: true }
  const isMeant = (halt: Halt) => !isOfOneStrategy(halt)
  const isLifting = halts.some((halt) => isMeant(halt) && mayBeLifted(halt) && halt.cause !== 'operator')
  const isKilling = kill !== undefined && kill.endedAtMs === undefined
  return {
    ...form,
    effects: [...form.effects, ...liftingEffects(halts, isMeant), ...(isKilling ? [words.endsKill] : [])],
    ...(isLifting || isKilling ? { typed: 'active' } : {}),
  }
}

/** Lets one strategy go on: the daemon's own button leaves alone what holds one alone. What a breaker put on is typed. */
export function liftCommand(scope: string, halts: readonly Halt[]): PageCommand {
  const ofScope = halts.filter((halt) => halt.scope === scope)
  const isHeldStill =
    halts.some((halt) => !isOfOneStrategy(halt)) || ofScope.some((halt) => !mayBeLifted(halt))
  const isTyped = ofScope.some((halt) => halt.cause !== 'operator' && mayBeLifted(halt))
  const known = {
    strategy: scope.replace(/^strategy:/, ''),
    effect: isHeldStill ? words.liftHeld : words.lift,
  }
  const form = formCommand('lift', { known, body: { scope } })
  return {
    ...form,
    effects: [...form.effects, ...liftingEffects(ofScope, () => true)],
    ...(isTyped ? { typed: 'active' } : {}),
  }
}

/** Kills: halts, cancels, and closes if asked. */
export function killCommand(
  isClosing: boolean,
  { positions, openIntents, othersOrders }: Status,
): PageCommand {
  const resting = openIntents.flatMap(({ legs }) => legs.filter(({ status }) => status === 'resting')).length
  const inFlight = openIntents.filter(({ legs }) => legs.length === 0).length
  const leaves = isClosing ? words.killClosesAll : words.killLeaves
  const known = {
    cancels: words.killCancels(resting, othersOrders, inFlight),
    leaves: leaves(positions.length),
  }
  const form = formCommand(isClosing ? 'killClose' : 'kill', { known })
  // The choice of the form is a flag of the body.
  const withExits =
    (body: NonNullable<PageCommand['shown']>): typeof body =>
    (values) => {
      const { exits: _, ...rest } = body(values)
      return values.exits === 'cancelled' ? { ...rest, exits: true } : rest
    }
  return {
    ...form,
    isStop: true,
    body: withExits(form.body),
    ...(form.shown && { shown: withExits(form.shown) }),
  }
}

/**
 * Closes a position or a share of it, told apart by the token that backs it from another of its side. `id`: the order is carried out once
 * by it.
 */
export function closeCommand(position: ShownPosition, id: string): PageCommand {
  const { symbol, row, collateral } = position
  const { direction } = row
  const form = formCommand('close', {
    known: { direction, market: symbol, size: usdText(row.sizeInUsd) },
    body: { id, ...bodyOf(position) },
    problems: { percent: (percent) => (isShare(percentBps(percent)) ? undefined : words.noShare) },
  })
  return collateral === undefined ? form : { ...form, effects: [...form.effects, words.backed(collateral)] }
}

/**
 * Places, moves or removes the exits of a position. Its fields hold the exits by hand that are in force: those are what it would move. One that is left
 * as it stands is not asked for again.
 */
export function protectCommand(position: ShownPosition, now: Status | undefined): PageCommand {
  const { symbol, row, collateral } = position
  const { direction } = row
  const levels = now === undefined ? [] : exitLevels(position, now)
  const own = levels.filter(({ order }) => order?.ownerKind === 'hand')
  const priceNow = (kind: LevelKind) => plainPrice(own.find((level) => level.kind === kind)?.text ?? '')
  const isPart = own.some(({ order }) => amountOf(order?.sizeUsd ?? row.sizeInUsd) < amountOf(row.sizeInUsd))
  const values: FieldValues = {
    ...{ stopLoss: priceNow('stop'), takeProfit: priceNow('target'), own: isPart ? 'own' : 'whole' },
  }
  const form = formCommand('protect', {
    known: { direction, market: symbol, size: usdText(row.sizeInUsd) },
    body: bodyOf(position),
    values,
  })
  const changed = (typed: FieldValues): FieldValues => {
    const others = Object.entries(typed).filter(([name, value]) => value !== values[name])
    return others.length === 0 || typed.own !== values.own
      ? typed
      : { stopLoss: '', takeProfit: '', own: values.own ?? '', ...Object.fromEntries(others) }
  }
  return {
    ...form,
    effects: collateral === undefined ? form.effects : [...form.effects, words.backed(collateral)],
    now: (status) => protectFacts(position, status),
    body: (typed) => form.body(changed(typed)),
    ...(form.preview && { preview: (typed) => form.preview?.(changed(typed)) ?? {} }),
  }
}

/** The prices of a position and of its exits, the highest first. */
function exitLevels({ key, symbol: market, places }: ShownPosition, status: Status): readonly Level[] {
  const positions = shownPositions(status, [], [])
  return levelsOf({ status, positions, market, places }).filter(({ key: own, kind, order }) =>
    order === undefined
      ? own.endsWith(key)
      : sideKeyOf(order) === key && (kind === 'stop' || kind === 'target'),
  )
}

type Fact = readonly [name: string, value: string]

/** A price with its distance from the mark, the result there, and whoever keeps the order. */
function levelFact({ name, text, distance, pnl, order }: Level): Fact {
  const owner = order === undefined ? [] : [ownerText(order.ownerKind, order.owner)]
  const frozen = order?.isFrozen === true ? [texts.resting.frozen] : []
  return [name, [chart.levelNow(text, distance, pnl), ...owner, ...frozen].join(', ')]
}

/** The mark and every price of a position; an exit that it lacks is named too. */
function protectFacts(position: ShownPosition, status: Status): readonly Fact[] {
  const { key, row, places } = position
  const mark = status.positions.find((each) => sideKeyOf(each) === key)?.markPrice ?? row.markPrice
  const levels = exitLevels(position, status)
  const none = (['stop', 'target'] as const).filter((kind) => levels.every((level) => level.kind !== kind))
  return [
    [chart.mark, priceText(mark, places)],
    ...levels.map(levelFact),
    ...none.map((kind): Fact => [kind, texts.headline.none]),
  ]
}

/** The mark of an order's market, and the order as it rests now. */
function orderFacts(
  { orderKey, market, triggerPrice, markPrice }: RestingOrder,
  status: Status,
): readonly Fact[] {
  const positions = shownPositions(status, [], [])
  const mark = markOf(status, market) ?? amountOf(markPrice ?? '0')
  const places = placesOf(mark === 0n ? (triggerPrice ?? '0') : mark)
  const levels = levelsOf({ status, positions, market, places }).filter(({ key }) => key === orderKey)
  return [...(mark === 0n ? [] : [[chart.mark, priceText(mark, places)] as const]), ...levels.map(levelFact)]
}

/** Moves the trigger of one order that rests. `price`: where it rests, in words. */
export function moveOrderCommand(order: RestingOrder, price: string, id: string): PageCommand {
  const { orderKey, type, direction, market } = order
  const body = (values: FieldValues) => ({ id, price: plainPrice(values.price ?? '') })
  return {
    title: chart.sheet(type, direction, market),
    effects: [chart.movesTrigger],
    now: (status) => orderFacts(order, status),
    path: `/api/orders/${encodeURIComponent(orderKey)}/move`,
    body,
    preview: (values) => ({ ...body(values), preview: true }),
    fields: [
      {
        ...{ name: 'price', label: chart.newPrice, value: plainPrice(price), isNumber: true },
        problem: (typed) => (typedPrice(typed) === undefined ? chart.notPrice(typed) : undefined),
      },
    ],
    send: chart.moveOrder,
  }
}

/** Fields of a body that name a position. */
function bodyOf({ symbol, row: { direction }, collateral }: ShownPosition) {
  return { market: symbol, direction, ...(collateral === undefined ? {} : { collateral }) }
}

function isShare(bps: number | string): boolean {
  return typeof bps === 'number' && bps >= 1 && bps <= 10_000
}

/** Cancels what rests of an order. */
export function cancelCommand(order: Order, id: string): PageCommand {
  const { intentId, kind, direction, market, sizeDeltaUsd } = order
  const what = `${kind} ${direction} ${market} ${usdText(sizeDeltaUsd)}`
  return {
    ...formCommand('cancel', { known: { order: intentId, short: intentId.slice(0, 8), what }, body: { id } }),
    typedFor: ({ isLastStop }) => (isLastStop === true ? words.noStop : undefined),
  }
}

/** Cancels one order that rests, by its key at the venue. */
export function cancelLegCommand(row: RestingOrder, id: string): PageCommand {
  const { orderKey, type, direction, market, sizeUsd } = row
  const what = `${type} ${direction} ${market} ${usdText(sizeUsd)}`
  return {
    ...formCommand('cancel', {
      known: { order: orderKey, short: orderKey.slice(0, 10), what },
      body: { id },
    }),
    typedFor: ({ isLastStop }) => (isLastStop === true ? words.noStop : undefined),
  }
}

/** Pauses a strategy, or lets it go on. */
export function switchCommand(strategy: string, to: 'pause' | 'resume'): PageCommand {
  return formCommand(to, { known: { strategy } })
}

/** Changes one field of a strategy's file; what it would come to is shown first. `field` and `value` stand in the form at first. */
export function setFieldCommand(strategy: string, field = '', value = ''): PageCommand {
  return formCommand('setField', { known: { strategy }, values: { field, value } })
}

/** Starts a task of a kind, first shown what it would do. `symbols`: markets of the page. */
export function startTaskCommand(
  kind: ReturnType<typeof formsAt>[number],
  symbols: readonly string[],
  id: string,
): PageCommand {
  const [market] = symbols
  return formCommand(kind, { body: { id }, values: market === undefined ? {} : { market } })
}

/** Ends a task. */
export function stopTaskCommand({ taskId, asked }: Task): PageCommand {
  return formCommand('stopTask', { known: { task: taskId, asked }, body: { task: taskId } })
}

/**
 * Says what settling a discrepancy of this kind counts. A trade was counted when it was found; an unexplained position is counted when an operator
 * settles it.
 */
function settledEffect(
  kind: Status['discrepancies'][number]['discrepancy']['kind'],
  as: 'adopted' | 'ignored',
): string {
  const { settle: own } = words
  if (kind === 'unexplained-position') return own[as]
  if (kind === 'unexplained-order') return own.order
  return kind === 'changed-order' ? own.changedOrder : own.trade
}

/** Settles a discrepancy. */
export function settleCommand(
  { discrepancy }: Status['discrepancies'][number],
  as: 'adopted' | 'ignored',
): PageCommand {
  const { discrepancyId, statement, kind } = discrepancy
  return formCommand(as, { known: { discrepancyId, statement, effect: settledEffect(kind, as) } })
}

/** A command of the section of limits; where it names one, those of the account are suggested. */
export function limitsCommand(
  name: Parameters<typeof formCommand>[0],
  limits: readonly LimitLine[],
): PageCommand {
  const ofAccount = limits.filter(({ scope }) => scope === 'account')
  const limit = ofAccount.map((line) => ({ value: line.limit, label: words.limitNow(line.value) }))
  return formCommand(name, { suggestions: { limit } })
}

/** Drains a node of the fleet, or ends that. */
export function drainCommand(node: string, isDraining: boolean): PageCommand {
  const name = isDraining ? 'fleetDrainEnd' : 'fleetDrain'
  return { ...formCommand(name, { known: { node }, body: { node } }), isStop: true }
}

/** Moves an account of the fleet; its nodes are suggested. */
export function moveCommand({ name, nodes }: Fleet['accounts'][number]): PageCommand {
  const node = [...nodes, 'any'].map((value) => ({ value, label: value }))
  const form = formCommand('fleetMove', {
    known: { account: name },
    body: { account: name },
    suggestions: { node },
  })
  return { ...form, isStop: true }
}

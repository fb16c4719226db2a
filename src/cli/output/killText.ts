/** The progress of a kill, as `perpd kill` and `perpd status` report it. Pure. */
import { isoTime } from '../../base/clock.ts'
import type { StatusBody } from '../../control/routes.ts'
import { leftPositionText } from '../../monitor/leftPositionText.ts'
import { counted, shortId, span } from '../../monitor/text.ts'

/** Says how far a kill is: `cancelling and closing: 2 orders rest, 1 position is held, 1 order is on its way; ...`. */
export function killText(
  kill: NonNullable<StatusBody['kill']>,
  openIntents: StatusBody['openIntents'] = [],
): string {
  const { left, problem, waits, close, exits, stays, outcome } = kill
  if (outcome === 'done')
    return close
      ? 'done: nothing is left'
      : `done: ${exits ? 'every order' : 'every order that adds risk'} is cancelled; ${staysText(stays)}`
  if (outcome === 'unproven')
    return `over without proof: ${kill.statement ?? 'the outcome of sent orders is not proven'}; trading stays halted. Check the account at the venue and the chain endpoints: perpd doctor`
  if (outcome !== undefined) return 'abandoned'
  if (waits !== undefined)
    return `waiting until ${waits.until}; since ${isoTime(waits.sinceMs).slice(11, 19)} UTC`
  const doing = close ? 'cancelling and closing' : 'cancelling'
  const rest = left === undefined ? 'looking' : leftText(left)
  const orders = left === undefined || left.inFlight === 0 ? [] : openIntents.flatMap(inFlightText)
  return [`${doing}: ${rest}`, ...(problem === undefined ? [] : [problem]), ...orders].join('; ')
}

/** The positions that a kill without closing left, and their protection. */
function staysText(stays: NonNullable<StatusBody['kill']>['stays']): string {
  if (stays === undefined) return 'positions stay (perpd positions)'
  if (stays.length === 0) return 'no position is open'
  return `open: ${stays.map(leftPositionText).join(', ')} (perpd kill --close closes)`
}

/** Counts what is left: resting orders, positions to close, and sent messages whose end is not proven. */
function leftText({
  orders,
  positions,
  inFlight,
}: NonNullable<NonNullable<StatusBody['kill']>['left']>): string {
  const parts = [
    ...(orders === 0 ? [] : [`${counted(orders, 'order')} ${orders === 1 ? 'rests' : 'rest'} at the venue`]),
    ...(positions === 0 ? [] : [`${counted(positions, 'position')} ${positions === 1 ? 'is' : 'are'} held`]),
    ...(inFlight === 0 ? [] : [`${counted(inFlight, 'order')} in flight`]),
  ]
  return parts.length === 0 ? 'nothing known is left' : parts.join(', ')
}

/** An order in flight, its state, and what it waits for; nothing of one that rests. */
function inFlightText(row: StatusBody['openIntents'][number]): string[] {
  const { intentId, status, kind, direction, market, host, deadlineAt, presumedDeadForSeconds } = row
  const until = deadlineAt === null ? 'its deadline' : `its deadline, ${deadlineAt.slice(11, 19)} UTC`
  const waits =
    presumedDeadForSeconds !== null
      ? `${span(presumedDeadForSeconds * 1_000)} past its deadline, outcome not proven: perpd orders resolve ${shortId(intentId)}`
      : inFlightWaits[status]?.(host ?? 'its host', until, shortId(intentId))
  return waits === undefined
    ? []
    : [`order ${shortId(intentId)} (${kind} ${direction} ${market}) is ${status}: ${waits}`]
}

const inFlightWaits: Readonly<Record<string, (host: string, until: string, id: string) => string>> = {
  planned: () => 'it will not be signed and expires',
  pending: (host) => `it waits for ${host} and the chain to show it`,
  unknown: (host, until, id) =>
    `it was sent; the kill is done once ${host} and the chain prove its outcome. It can land until ${until}; after that a chain endpoint proves it dead. If you know its outcome, end the wait: perpd orders resolve ${id}`,
}

/** Starts of tasks in words. */
import type { StartTaskCommand } from './taskBodies.ts'

type DistributiveOmit<T, Name extends string> = T extends unknown ? Omit<T, Name> : never
type Asked = DistributiveOmit<StartTaskCommand, 'type' | 'id' | 'isPreview'>

/** Describes its request, without its id. */
export function askedOfTask(command: Asked): string {
  const { maxOrders, maxFees, maxMinutes, leverage, collateral } = command
  const [what, ...own] = wordsOf(command)
  return [
    what,
    ...(leverage === undefined ? [] : [`at ${leverage}x`]),
    ...(collateral === undefined ? [] : [`on the ${collateral} token`]),
    ...own,
    ...(maxOrders === undefined ? [] : [`at most ${maxOrders} orders`]),
    ...(maxFees === undefined ? [] : [`at most ${maxFees} USD of fees`]),
    ...(maxMinutes === undefined ? [] : [`at most ${maxMinutes} min`]),
  ].join(', ')
}

function wordsOf(command: Asked): readonly string[] {
  switch (command.kind) {
    case 'twap': {
      const { market, direction, size, reduce, parts, minutes, price, shareBps, route } = command
      return [
        `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD in ${parts} parts over ${minutes} min`,
        ...(price === undefined ? [] : [`not worse than ${price}`]),
        ofCapacity(shareBps, 'a part'),
        ...(route === 'own' ? ["without the venue's own twap"] : []),
      ]
    }
    case 'accumulate': {
      const { market, direction, target, price, shareBps, everySeconds, least } = command
      return [
        `add to ${market} ${direction} until it has ${target} USD`,
        `not worse than ${price}`,
        ofCapacity(shareBps, 'an order'),
        ...(everySeconds === undefined ? [] : [`every ${everySeconds} s`]),
        ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
      ]
    }
    case 'ladder': {
      const { market, direction, size, rungs, growthBps, stepBps, everySeconds, profitBps, stopBps } = command
      return [
        `open ${market} ${direction} by ${size} USD in ${rungs} rungs`,
        stepBps === undefined ? `every ${everySeconds ?? 0} s` : `every ${percent(stepBps)}`,
        ...(growthBps === undefined ? [] : [`each ${growthBps / 10_000} times the one before`]),
        ...(profitBps === undefined ? [] : [`target ${percent(profitBps)} from the average`]),
        ...(stopBps === undefined ? [] : [`stop ${percent(stopBps)} from the first`]),
      ]
    }
    case 'chase': {
      const { market, direction, size, reduce, minutes, price, offsetBps, stepBps, everySeconds } = command
      return [
        `${reduce ? 'reduce' : 'open'} ${market} ${direction} by ${size} USD with a limit behind the price, at the market after ${minutes} min`,
        `not worse than ${price}`,
        ...(offsetBps === undefined ? [] : [`${percent(offsetBps)} behind`]),
        ...(stepBps === undefined ? [] : [`moved by ${percent(stepBps)} or more`]),
        ...(everySeconds === undefined ? [] : [`every ${everySeconds} s`]),
      ]
    }
    case 'bracket': {
      const { market, direction, size, entry, takeProfit, stopLoss } = command
      return [
        `open ${market} ${direction} by ${size} USD at ${entry ?? 'the market'}`,
        `stop ${stopLoss}`,
        ...(takeProfit === undefined ? [] : [`target ${takeProfit}`]),
      ]
    }
    case 'rebalance': {
      const { total, weights, bandBps, shareBps, least } = command
      const each = Object.entries(weights).map(([market, weightBps]) => `${market} ${percent(weightBps)}`)
      return [
        `bring ${total} USD to ${each.join(', ')}`,
        ...(bandBps === undefined ? [] : [`a drift of ${percent(bandBps)} left alone`]),
        ofCapacity(shareBps, 'an order'),
        ...(least === undefined ? [] : [`orders of ${least} USD or more`]),
      ]
    }
  }
}

function ofCapacity(shareBps: number, what: string): string {
  return `at most ${shareBps / 100} percent of the capacity ${what}`
}

function percent(basisPoints: number): string {
  return `${basisPoints / 100} percent`
}

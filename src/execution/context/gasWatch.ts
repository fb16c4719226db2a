/**
 * The chain's gas price as perpd computes fees with it: the endpoints' present one, the lower of two when they differ, so that none alone makes a fee
 * believable. Also the highest of some minutes, because a host may still use an older one.
 */
import type { Clock } from '../../base/clock.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import { expressGasPrice } from '../../protocol/chains/feeFormula.ts'
import type { ChainGas } from '../../protocol/chains/gas.ts'

/** Oldest reading that an estimate uses, ms. */
const FRESH_MS = 60_000
/** Time for which a host may still use a reading, ms. */
const REMEMBERED_MS = 600_000

/** Gas prices that relayed orders' fees are counted with (`expressGasPrice`), wei. */
export interface GasLevels {
  readonly price: bigint
  /** The highest price that any endpoint reported in the last minutes; at least `price`. */
  readonly highest: bigint
}

/** Keeps readings of the gas price. */
export interface GasWatch {
  /** Reads anew unless the newest reading is younger; never rejects because of network faults. */
  refresh(youngerThanMs: number): Promise<void>
  /** Undefined without a reading of the last minute. */
  levels(): GasLevels | undefined
}

interface Sample extends GasLevels {
  readonly atMs: number
}

/** Makes a watch over a reader's endpoints. */
export function createGasWatch(
  gas: ChainGas,
  gasPrices: NonNullable<ChainReader['gasPrices']>,
  clock: Clock,
): GasWatch {
  let samples: readonly Sample[] = []
  let underWay: Promise<void> | undefined

  async function read(): Promise<void> {
    const prices = (await gasPrices())
      .map((each) => expressGasPrice(gas, each))
      .toSorted((one, other) => (one < other ? -1 : 1))
    const price = prices[Math.floor((prices.length - 1) / 2)]
    const highest = prices.at(-1)
    if (price === undefined || highest === undefined) return
    const atMs = clock.monotonicMs()
    samples = [...samples.filter((each) => each.atMs > atMs - REMEMBERED_MS), { price, highest, atMs }]
  }

  return {
    async refresh(youngerThanMs) {
      const newest = samples.at(-1)
      if (newest !== undefined && clock.monotonicMs() - newest.atMs < youngerThanMs) return
      underWay ??= read().finally(() => {
        underWay = undefined
      })
      await underWay
    },
    levels() {
      const nowMs = clock.monotonicMs()
      const newest = samples.at(-1)
      if (newest === undefined || nowMs - newest.atMs > FRESH_MS) return undefined
      const recent = samples.filter((each) => each.atMs > nowMs - REMEMBERED_MS)
      const highest = recent.reduce((most, each) => (each.highest > most ? each.highest : most), newest.price)
      return { price: newest.price, highest }
    },
  }
}

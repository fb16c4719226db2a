/** Makes the daemon's series in a registry of their own, and keeps what docs/reference/metrics.md prints of them. */
import type * as prom from 'prom-client'
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'
import Registry from 'prom-client/lib/registry.js'
import { defined } from '../base/defined.ts'

/** One series, described. */
export interface SeriesDescription {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labels: readonly string[]
}

/** Upper bounds of what a host or an endpoint takes, seconds: few, because each host has all of them. */
export const answerBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Maker of series; it registers and describes each one in the order of making. */
export interface SeriesMaker {
  readonly registry: prom.Registry
  readonly described: readonly SeriesDescription[]
  /** `collect` sets its values at each scrape; absent: somebody else moves them. */
  counter<T extends string>(
    name: string,
    help: string,
    labels?: readonly T[],
    collect?: (self: prom.Counter<T>) => void,
  ): prom.Counter<T>
  /** As `counter`. */
  gauge<T extends string>(
    name: string,
    help: string,
    labels?: readonly T[],
    collect?: (self: prom.Gauge<T>) => void,
  ): prom.Gauge<T>
  /** `buckets` are upper bounds in the unit of its name. */
  histogram<T extends string>(
    name: string,
    help: string,
    labels: readonly T[],
    buckets: number[],
  ): prom.Histogram<T>
}

/** A maker over a new registry. */
export function createSeriesMaker(): SeriesMaker {
  const registry = new Registry()
  const described: SeriesDescription[] = []
  const named = <T extends string>(
    type: string,
    name: string,
    help: string,
    labelNames: readonly T[],
  ): { name: string; help: string; labelNames: readonly T[]; registers: prom.Registry[] } => {
    described.push({ name, type, help, labels: labelNames })
    return { name, help, labelNames, registers: [registry] }
  }
  const counter = <T extends string>(
    name: string,
    help: string,
    labels: readonly T[] = [],
    collect?: (self: prom.Counter<T>) => void,
  ): prom.Counter<T> => {
    const made: prom.Counter<T> = new Counter({
      ...named('counter', name, help, labels),
      ...defined({ collect: collect ? () => collect(made) : undefined }),
    })
    return made
  }
  const gauge = <T extends string>(
    name: string,
    help: string,
    labels: readonly T[] = [],
    collect?: (self: prom.Gauge<T>) => void,
  ): prom.Gauge<T> => {
    const made: prom.Gauge<T> = new Gauge({
      ...named('gauge', name, help, labels),
      ...defined({ collect: collect ? () => collect(made) : undefined }),
    })
    return made
  }
  const histogram = <T extends string>(
    name: string,
    help: string,
    labels: readonly T[],
    buckets: number[],
  ): prom.Histogram<T> => new Histogram({ ...named('histogram', name, help, labels), buckets })

  return { registry, described, counter, gauge, histogram }
}

/**
 * Loaded before a process of bench/soak.ts (`--import`): its clock runs `PERPD_BENCH_CLOCK_SPEED` times as fast. What waits for the
 * network alone, as AbortSignal.timeout, keeps real time: the network is no faster.
 */
const speed = Number(process.env.PERPD_BENCH_CLOCK_SPEED ?? '1')
const RealDate = Date
/** One instant for all processes: whoever starts a second later is no minute behind. */
const startedMs = Number(process.env.PERPD_BENCH_CLOCK_START ?? RealDate.now())
const realNow = performance.now.bind(performance)
const startedAt = realNow()
const beganLateMs = RealDate.now() - startedMs
const nowMs = (): number => Math.floor(startedMs + (beganLateMs + realNow() - startedAt) * speed)

class FastDate extends RealDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [nowMs()] : given) as [number]))
  }
  static override now(): number {
    return nowMs()
  }
}
globalThis.Date = FastDate as DateConstructor
performance.now = () => startedAt + (realNow() - startedAt) * speed

const { setTimeout: realTimeout, setInterval: realInterval } = globalThis
type Timer = (work: () => void, ms?: number, ...given: unknown[]) => unknown
const faster =
  (timer: Timer): Timer =>
  (work, ms = 0, ...given) =>
    timer(work, ms / speed, ...given)
globalThis.setTimeout = Object.assign(faster(realTimeout as Timer), realTimeout) as typeof setTimeout
globalThis.setInterval = faster(realInterval as Timer) as typeof setInterval

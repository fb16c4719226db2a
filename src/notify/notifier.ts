/** Tells people outside what the daemon's events say: a listener that returns at once, and a loop for each sink. */
import type { Clock } from '../base/clock.ts'
import type { Emit, Event } from '../domain/event.ts'
import { createCauseFilter } from './causeFilter.ts'
import { createHaltWatch } from './haltWatch.ts'
import { createHostsWatch } from './hostsWatch.ts'
import { mailLetter } from './mailLetter.ts'
import { createMarketsWatch } from './marketsWatch.ts'
import { type MessageContext, messageOf } from './message.ts'
import type { Notice } from './notice.ts'
import { createOpenStories, type StoryStore } from './openStories.ts'
import { createPauseWatch } from './pauseWatch.ts'
import { createPricesWatch } from './pricesWatch.ts'
import type { PostMail } from './sendMail.ts'
import { type Post, type SendResult, sendOnce } from './sendOnce.ts'
import { createSinkCauses } from './sinkCauses.ts'
import { createSinkLoop, type Waiting } from './sinkLoop.ts'
import { type OpenSink, sinkRequest } from './sinkRequest.ts'
import { filterOf } from './sinkSettings.ts'

/** Options of a notifier. */
export interface NotifierOptions extends MessageContext {
  readonly sinks: readonly OpenSink[]
  readonly post: Post
  readonly postMail: PostMail
  readonly clock: Clock
  /** Told what became of each notice. */
  readonly emit: Emit
  /** Hides secrets in a text: what a fault or a host says may hold one. */
  readonly redact: (text: string) => string
  /** Where what was told and goes on is kept between runs; absent: nowhere. */
  readonly stories?: StoryStore
  /** Most notices that wait for one sink. */
  readonly maxWaiting: number
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
}

/** Sends notices to people. */
export interface Notifier {
  readonly listen: Emit
  /** Takes events that were told before a restart: nothing is sent, and their ends go to who was told of them, by the settings of now. */
  recall(events: readonly Event[]): void
  /** Tells what no event says. */
  tell(notice: Notice): void
  /** Waits until all that waits is told, for at most `withinMs`; then nothing more is. */
  close(withinMs: number): Promise<void>
}

/** A notifier over sinks; without any it does nothing. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { sinks, clock, emit, maxWaiting: most } = options
  const causes = createCauseFilter()
  const watchHosts = createHostsWatch()
  const halts = createHaltWatch()
  const watchMarkets = createMarketsWatch()
  const prices = createPricesWatch()
  const watchPauses = createPauseWatch()
  const stories = createOpenStories(sinks.length === 0 ? undefined : options.stories)
  const loops = sinks.map((sink) => {
    const taken = createSinkCauses(filterOf(sink.settings))
    const loop = createSinkLoop({
      name: sink.settings.name,
      send: (waiting, signal) => tellSink(sink, waiting, options, signal),
      clock,
      emit,
      lost: ({ of }) => (of === undefined ? undefined : taken.lost(of)),
      most,
    })
    return { taken, loop }
  })

  for (const notice of stories.before) for (const { taken } of loops) taken.take(notice)

  function tell(notice: Notice): void {
    const count = causes.take(notice, clock.monotonicMs())
    if (count === undefined) return
    stories.told(cleaned(notice, options.redact))
    for (const { taken, loop } of loops) {
      const how = taken.take(notice)
      if (how !== undefined) loop.offer({ notice, count, ...how })
    }
  }

  return {
    tell,
    recall(events) {
      const nowMs = clock.monotonicMs()
      const before = (event: Event) => [...watchMarkets(event), ...halts.take(event, nowMs)]
      for (const notice of events.flatMap(before)) {
        for (const { taken } of loops) taken.take(notice)
      }
    },
    listen(event: Event) {
      if (loops.length === 0) return
      const nowMs = clock.monotonicMs()
      const notices = [
        watchHosts(event, nowMs),
        ...watchMarkets(event),
        ...prices.take(event, nowMs),
        ...watchPauses(event, nowMs),
        ...halts.take(event, nowMs),
        ...stories.take(event, nowMs),
      ]
      for (const notice of notices) if (notice !== undefined) tell(notice)
    },
    async close(withinMs) {
      for (const notice of [...prices.rest(), ...halts.rest()]) tell(notice)
      const waited = new AbortController()
      const all = Promise.all(loops.map(({ loop }) => loop.idle())).then(() => waited.abort())
      await Promise.race([all, clock.sleep(withinMs, waited.signal)])
      for (const { loop } of loops) loop.stop()
      await all
    },
  }
}

/** A notice without secrets, whatever of it leaves. */
function cleaned(notice: Notice, redact: NotifierOptions['redact']): Notice {
  const { cause, text, action } = notice
  const clean = { ...notice, cause: redact(cause), text: redact(text) }
  return action === undefined ? clean : { ...clean, action: redact(action) }
}

/** Tries once to tell one sink. */
export function tellSink(
  sink: OpenSink,
  { notice: said, count, isSilent }: Pick<Waiting, 'notice' | 'count' | 'isSilent'>,
  options: Omit<NotifierOptions, 'sinks' | 'emit' | 'maxWaiting'>,
  signal: AbortSignal,
): Promise<SendResult> {
  const { post, postMail, clock, timeoutMs, redact } = options
  const { settings, secrets } = sink
  const notice = cleaned(said, redact)
  const { title, text } = messageOf(notice, count, options, settings.template)
  // Once more as a whole: the template and the address of the page are not the notice's.
  const message = { title: redact(title), text: redact(text) }
  if (settings.type === 'email') {
    const letter = mailLetter(settings, secrets, { message, level: notice.level, isSilent })
    return postMail(letter, { timeoutMs, signal })
  }
  const request = sinkRequest(sink, { notice, message, isSilent, count }, clock.now())
  return sendOnce(request, post, { timeoutMs, signal })
}

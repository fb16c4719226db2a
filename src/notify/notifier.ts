/** Tells people outside what the daemon's events say: a listener that returns at once, and a loop for each sink. */
import type { Clock } from '../base/clock.ts'
import type { Emit, Event } from '../domain/event.ts'
import type { Notice } from '../monitor/events/notice.ts'
import type { Incidents, News } from '../monitor/incidents/incidents.ts'
import type { UnprotectedSide } from '../monitor/incidents/unprotected.ts'
import { withAccount } from '../monitor/namedAdvice.ts'
import { mailLetter } from './mailLetter.ts'
import { type MessageContext, messageOf } from './message.ts'
import type { PostMail } from './sendMail.ts'
import { type Post, type SendResult, sendOnce } from './sendOnce.ts'
import { createSinkCauses } from './sinkCauses.ts'
import { createSinkLoop, type Waiting } from './sinkLoop.ts'
import { type OpenSink, sinkRequest } from './sinkRequest.ts'
import { filterOf } from './sinkSettings.ts'

/** Context of every message, and the guard of its secrets. */
interface NoticeContext extends MessageContext {
  /** Hides secrets in a text: what a fault or a host says may hold one. */
  readonly redact: (text: string) => string
}

/** Options of a notifier. */
export interface NotifierOptions extends NoticeContext {
  readonly sinks: readonly OpenSink[]
  readonly post: Post
  readonly postMail: PostMail
  readonly clock: Clock
  /** Told what became of each notice. */
  readonly emit: Emit
  /** The incidents that the notices are of. */
  readonly incidents: Incidents
  /** Most notices that wait for one sink. */
  readonly maxWaiting: number
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
}

/** Sends notices to people. */
export interface Notifier {
  readonly listen: Emit
  /** Takes an event that somebody else notifies: its incidents count, and nothing is sent. */
  readonly hear: Emit
  /** Takes events that were told before a restart: nothing is sent, and their ends go to who was told of them, by the settings of now. */
  recall(events: readonly Event[]): void
  /** Tells what no event says. */
  tell(notice: Notice): void
  /** Takes the unprotected positions of one look. */
  look(bare: readonly UnprotectedSide[]): void
  /** Waits until all that waits is told, for at most `withinMs`; then nothing more is. */
  close(withinMs: number): Promise<void>
}

/** A notifier over sinks; without any it does nothing. */
export function createNotifier(options: NotifierOptions): Notifier {
  const { sinks, clock, emit, incidents, maxWaiting: most } = options
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

  function remember(notices: readonly Notice[]): void {
    for (const notice of notices) for (const { taken } of loops) taken.take(notice)
  }

  function send(news: readonly News[]): void {
    for (const { notice, count } of news) {
      for (const { taken, loop } of loops) {
        const how = taken.take(notice)
        if (how !== undefined) loop.offer({ notice, count, ...how })
      }
    }
  }

  remember(incidents.before)
  return {
    tell: (notice) => send(incidents.report(notice, clock.monotonicMs())),
    look: (bare) => send(incidents.look(bare, clock.monotonicMs())),
    recall: (events) => remember(incidents.recall(events, clock.monotonicMs())),
    listen: (event) => send(incidents.take(event, clock.monotonicMs())),
    hear: (event) => void incidents.take(event, clock.monotonicMs()),
    async close(withinMs) {
      send(incidents.rest(clock.monotonicMs()))
      const waited = new AbortController()
      const all = Promise.all(loops.map(({ loop }) => loop.idle())).then(() => waited.abort())
      await Promise.race([all, clock.sleep(withinMs, waited.signal)])
      for (const { loop } of loops) loop.stop()
      await all
    },
  }
}

/** A notice without secrets, whatever of it leaves, and with the account in the commands that it names. */
function cleaned(notice: Notice, { redact, account }: NoticeContext): Notice {
  const { cause, text, action } = notice
  const words = (said: string): string => redact(withAccount(said, account))
  const clean = { ...notice, cause: redact(cause), text: words(text) }
  return action === undefined ? clean : { ...clean, action: words(action) }
}

/** Tries once to tell one sink. */
export function tellSink(
  sink: OpenSink,
  { notice: said, count, isSilent }: Pick<Waiting, 'notice' | 'count' | 'isSilent'>,
  options: Omit<NotifierOptions, 'sinks' | 'emit' | 'incidents' | 'maxWaiting'>,
  signal: AbortSignal,
): Promise<SendResult> {
  const { post, postMail, clock, timeoutMs, redact } = options
  const { settings, secrets } = sink
  const notice = cleaned(said, options)
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

/**
 * Traces of orders to an OpenTelemetry collector. Its packages are loaded only here, when the setting asks for it. Spans wait in a
 * queue of bounded length and are sent by timers in small batches: nothing waits for the collector, and what has no room is dropped.
 */
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { version } from '../../config/version.ts'
import type { Emit } from '../../domain/event.ts'
import { createOrderTraces, type OpenSpan, type SpanFacts } from '../../monitor/log/orderTraces.ts'

/** Spans that wait at most, and that are sent at once. */
const MOST_WAITING = 2_048
const BATCH = 64
/** Interval between sendings, longest wait for the collector, and longest wait at the end of the process, ms. */
const SEND_EVERY_MS = 5_000
const SEND_TIMEOUT_MS = 5_000
const LAST_SPANS_MS = 2_000

/** Result code of an exporter for spans that were sent. */
const SENT = 0

/** Traces that are kept. */
export interface Traces {
  readonly listen: Emit
  /** Ends open spans and sends what waits, for two seconds at most. */
  close(): Promise<void>
}

/** Where traces go, and who they are from. */
export interface TraceOptions {
  /** The collector's whole address: OTLP over HTTP as JSON, `http://127.0.0.1:4318/v1/traces`. */
  readonly endpoint: string
  /** Headers that the collector requires, including its token. Absent: none. */
  readonly headers?: Readonly<Record<string, string>>
  readonly profile: string
  readonly chain: string
  readonly now: () => number
  /** Told when sending fails, once until it works again. */
  readonly failed: (reason: string) => void
}

/** Begins to send traces. Throws CommandError when the packages are not installed. */
export async function openTraces({
  endpoint,
  headers = {},
  profile,
  chain,
  now,
  failed,
}: TraceOptions): Promise<Traces> {
  const { trace, ROOT_CONTEXT, sdk, otlp, resourceFromAttributes } = await load()
  const exporter = new otlp.OTLPTraceExporter({
    url: endpoint,
    headers: { ...headers },
    timeoutMillis: SEND_TIMEOUT_MS,
  })
  const processor = new sdk.BatchSpanProcessor({
    exporter: watched(exporter, failed),
    maxQueueSize: MOST_WAITING,
    maxExportBatchSize: BATCH,
    scheduledDelayMillis: SEND_EVERY_MS,
    exportTimeoutMillis: SEND_TIMEOUT_MS,
  })
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'perpd',
      'service.version': version,
      'perpd.profile': profile,
      'perpd.chain': chain,
    }),
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('perpd', version)
  const begin = (name: string, startMs: number, facts: SpanFacts, context = ROOT_CONTEXT): OpenSpan => {
    const span = tracer.startSpan(name, { startTime: startMs, attributes: facts }, context)
    return {
      child: (inner, innerMs, innerFacts = {}) =>
        begin(inner, innerMs, innerFacts, trace.setSpan(ROOT_CONTEXT, span)),
      note: (what, atMs, noted = {}) => void span.addEvent(what, noted, atMs),
      end: (atMs, last = {}) => span.setAttributes(last).end(atMs),
    }
  }
  const traces = createOrderTraces(begin, now)
  return {
    listen: traces.listen,
    async close() {
      traces.close()
      const sent = new AbortController()
      const patience = systemClock.sleep(LAST_SPANS_MS, sent.signal)
      await Promise.race([provider.shutdown().catch(() => undefined), patience])
      sent.abort()
    },
  }
}

/** The exporter, with a word of it when it begins to fail. */
function watched(exporter: SpanExporter, failed: (reason: string) => void): SpanExporter {
  let isFailing = false
  return {
    export(spans: ReadableSpan[], done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.code !== SENT
        if (hasFailed && !isFailing)
          failed(`traces cannot be sent: ${reasonOf(result.error ?? 'no reason')}. Orders are not affected`)
        isFailing = hasFailed
        done(result)
      })
    },
    shutdown: () => exporter.shutdown(),
    ...defined({
      forceFlush:
        exporter.forceFlush === undefined ? undefined : () => exporter.forceFlush?.() ?? Promise.resolve(),
    }),
  }
}

async function load() {
  try {
    const [{ trace, ROOT_CONTEXT }, sdk, otlp, { resourceFromAttributes }] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
    return { trace, ROOT_CONTEXT, sdk, otlp, resourceFromAttributes }
  } catch (error) {
    throw new CommandError(
      `otel.endpoint is set, and the packages of OpenTelemetry cannot be loaded: ${reasonOf(error)}\n  Install perpd with its optional packages, or unset otel.endpoint.`,
      exitCodes.configuration,
    )
  }
}

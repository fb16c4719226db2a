/** Settings of traces. */
import { type Section, setting } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `otel`. */
export const otel = {
  endpoint: setting(
    as.collectorUrlOrNone,
    '',
    'Address of an OpenTelemetry collector (OTLP over HTTP) that receives a trace of each order, as http://127.0.0.1:4318/v1/traces. Empty: no traces, and OpenTelemetry is not loaded.',
  ),
  headersFile: setting(
    as.pathOrNone,
    '',
    'File of headers that the collector requires, one `Name: value` a line, as `authorization: Bearer ...`; guarded as a key file. Empty: none.',
  ),
} satisfies Section

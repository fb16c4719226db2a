/** Settings of traces. */
import { type Section, setting } from '../../protocol/settings/setting.ts'
import * as as from './formats.ts'

/** Settings under `otel`. */
export const otel = {
  endpoint: setting(
    as.collectorUrlOrNone,
    '',
    "Address of an OpenTelemetry collector (OTLP over HTTP) that gets each order's road as a trace, as http://127.0.0.1:4318/v1/traces. Empty: no traces, and nothing of OpenTelemetry is loaded.",
  ),
  headersFile: setting(
    as.pathOrNone,
    '',
    'File of headers that the collector asks for, one `Name: value` a line, as `authorization: Bearer ...`; guarded as a key file. Empty: none.',
  ),
} satisfies Section

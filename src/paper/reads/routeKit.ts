/** Declares routes: the inputs of a handler, its possible responses, and the hosts that mount it. */
import type { BodySource, Json, JsonBytes, JsonText } from '../http/http.ts'
import type { neverAnswer } from '../requests/orderRoutes.ts'
import type { VenueState } from '../state/venueState.ts'
import type { Peer } from '../venue/peer.ts'

/** Inputs of a handler. */
export interface RouteInput {
  readonly request: BodySource
  /** Its address: absolute, or path and query where it came over a socket of its own. */
  readonly url: string
  readonly query: URLSearchParams
  readonly nowMs: number
  /** The application peer that was asked; on other hosts the first. */
  readonly peer: Peer
  /** Position of the peer, 0 = the first family. */
  readonly family: number
  /** A part of the path by its name in the pattern; empty when there is none. */
  readonly param: (name: string) => string
}

/** Response of a handler: JSON of a 200, a whole response, or none ever. It throws HttpFailure for everything else. */
export type RouteAnswer = Json | JsonBytes | JsonText | Response | typeof neverAnswer

/** A handler. */
export type RouteHandler = (input: RouteInput) => RouteAnswer | Promise<RouteAnswer>

/** A venue beside this one in the same process, this one included. */
export interface Neighbour {
  readonly venueState: VenueState
  readonly paths: { readonly api: readonly string[] }
  fetch(request: Request): Promise<Response>
}

/** Where routes are mounted. A GET with a window (cacheWindows.ts) is asked once a window. */
export interface RouteKit {
  /** A route of both application peers under `/v1`. */
  api(method: 'GET' | 'POST', path: string, handler: RouteHandler): void
  /** A read of all oracle hosts. */
  oracle(path: string, handler: RouteHandler): void
  /** A read at a path of its own below the venue's prefix, of a named host; `:host` in the name is taken from the path. */
  at(path: string, host: string, handler: RouteHandler): void
  readonly neighbours: () => readonly Neighbour[]
}

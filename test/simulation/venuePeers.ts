/** The peers of the modelled venue, and what each keeps of what it was handed. */
import type { Hex } from '../../src/protocol/address.ts'
import type { Message } from './chainModel.ts'

/** What a relay says of a task by itself, whatever is so. */
type TaskWord = 'accepted' | 'pending' | 'submitted' | 'failed' | 'reverted'

/** One message that was handed in. */
export interface Task {
  readonly taskId: string
  readonly message: Message
  word: TaskWord
  /** Hash of the newest transaction that carried it. */
  txHash: Hex | undefined
}

/** A prepared request at one peer. */
export interface PeerRecord {
  readonly requestId: string
  readonly intentId: string
  readonly deadlineSeconds: number
  task: Task | undefined
}

/** One peer. */
export interface Peer {
  readonly host: string
  readonly records: Map<string, PeerRecord>
  readonly skewMs: number
  isDown: boolean
  /** How far its indexer is behind, ms. */
  lagMs: number
}

/** Routes of a fleet, on each of its nodes: what its table shows, and its commands by their rows. */
import type { Hono } from 'hono'
import type { Commander } from '../domain/accountRecords/tradingState.ts'
import type { FleetReport } from '../domain/summaries/fleetReport.ts'
import type { AnyCommand } from '../operator/commandRow.ts'
import { fleetRows } from '../operator/commands/index.ts'
import type { FleetRow } from '../operator/commands/ofFleet/fleetContext.ts'
import type { OperatorAnswer } from '../operator/operatorAnswer.ts'
import { addRows } from './commandRoutes.ts'
import { json } from './controlReads.ts'
import type { Proven } from './guard/requestGuard.ts'

/** A fleet as a node's port has it. Each rejects with a BaseError where the database gives no certain answer. */
export interface FleetPort {
  report(): Promise<FleetReport>
  operate(row: FleetRow, command: AnyCommand, commander: Commander): Promise<OperatorAnswer>
}

/** Adds them. `fleet` is undefined in a process of no fleet: its page asks too, and null is no fault. */
export function fleetRoutes(app: Hono<Proven>, fleet: FleetPort | undefined): void {
  app.get('/api/fleet', async () => json(fleet === undefined ? null : await fleet.report()))
  if (fleet !== undefined) addRows<AnyCommand, FleetRow>(app, Object.values(fleetRows), fleet.operate)
}

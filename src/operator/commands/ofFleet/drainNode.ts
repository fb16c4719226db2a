/** Drains a node of a fleet, or ends that. */
import { z } from 'zod'
import { line } from '../../../base/bodyFields.ts'
import { type FleetRows, isSilent, type NodeRow } from '../../../domain/summaries/fleetReport.ts'
import { json } from '../../commandLine.ts'
import type { CommandOf } from '../../commandRow.ts'
import { done, type OperatorAnswer } from '../../operatorAnswer.ts'
import { type FleetContext, type FleetRow, nodeNamed, silenceText } from './fleetContext.ts'

const body = z.strictObject({ node: line(64), end: z.boolean().default(false) })

/** The command. */
type DrainNodeCommand = CommandOf<'fleet-drain', typeof body>

/** Its row. */
export const drainNode: FleetRow<DrainNodeCommand> = {
  type: 'fleet-drain',
  route: '/api/fleet/drain',
  body,
  preview: effectOf,
  async run(context, command) {
    const answer = await effectOf(context, command)
    if (answer.ok) await context.drain(command.node, !command.end)
    return answer
  },
  api: {
    example: { node: 'two', end: false },
    note: 'of a fleet: lasts as long as the process of the node; `end` ends it',
  },
  forms: {
    fleetDrain: {
      title: 'Drain {node}',
      effects: ['The node gives its accounts to others, one at a time, until its process ends.'],
      body: { end: false },
      send: 'Drain node',
      isDanger: true,
      preview: 'first',
    },
    fleetDrainEnd: {
      title: 'End the drain of {node}',
      effects: ['The node takes accounts again.'],
      body: { end: true },
      send: 'End drain',
      preview: 'first',
    },
  },
  cli: [
    {
      name: 'fleet drain',
      summary: 'Have a node of a fleet give its accounts to others, one at a time, before it is stopped.',
      details:
        'It lasts as long as the process of the node. An account that no other living node can hold stays.',
      positional: { name: 'NODE', doc: 'name of the node, as perpd fleet shows it', field: 'node' },
      flags: [
        { name: 'end', doc: 'end it: the node takes accounts again' },
        { name: 'dry-run', doc: 'only show what would change' },
        json,
      ],
      examples: ['perpd fleet drain two', 'perpd fleet drain two --dry-run', 'perpd fleet drain two --end'],
    },
  ],
}

async function effectOf(context: FleetContext, { node, end }: DrainNodeCommand): Promise<OperatorAnswer> {
  const rows = await context.read()
  const own = nodeNamed(rows, node)
  if ('ok' in own) return own
  if (end) return done(`${node} takes accounts again`)
  if (isSilent(own))
    return done(
      `${silenceText(own)}: other nodes take over what they can hold by themselves. If its process is back, it gives its accounts away and takes none until it ends`,
    )
  const [goes, stays] = heldAfter(rows, own)
  const [verb, them] = stays.length === 1 ? ['stays', 'it'] : ['stay', 'them']
  const staying =
    stays.length === 0 ? '' : `. ${stays.join(', ')} ${verb} there: no other node that lives can hold ${them}`
  const gives = goes.length === 0 ? 'no account away' : `${goes.join(', ')} away, one at a time`
  return done(`${node} gives ${gives}, and takes none until its process ends${staying}`)
}

/** Returns the accounts that a drain of the node gives away, and those that only it can hold. */
function heldAfter(
  { nodes }: FleetRows,
  own: NodeRow,
): readonly [goes: readonly string[], stays: readonly string[]] {
  const others = nodes.filter((each) => each.node !== own.node && !each.isDraining && !isSilent(each))
  const held = own.holds.map(({ account }) => account)
  const goes = held.filter((account) => others.some(({ can }) => can.includes(account)))
  return [goes, held.filter((account) => !goes.includes(account))]
}

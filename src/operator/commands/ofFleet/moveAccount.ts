/** Moves an account of a fleet to a node, and keeps it there. */
import { z } from 'zod'
import { line } from '../../../base/bodyFields.ts'
import { accountsOf, isSilent } from '../../../domain/summaries/fleetReport.ts'
import { json } from '../../commandLine.ts'
import type { CommandOf } from '../../commandRow.ts'
import { done, type OperatorAnswer, refusal } from '../../operatorAnswer.ts'
import { type FleetContext, type FleetRow, nodeNamed, silenceText } from './fleetContext.ts'

/** The word for any node. */
const ANY = 'any'

const body = z.strictObject({ account: line(64), node: line(64) })

/** The command. */
type MoveAccountCommand = CommandOf<'fleet-move', typeof body>

/** Its row. */
export const moveAccount: FleetRow<MoveAccountCommand> = {
  type: 'fleet-move',
  route: '/api/fleet/move',
  body,
  preview: effectOf,
  async run(context, command) {
    const answer = await effectOf(context, command)
    const { account, node } = command
    if (answer.ok) await context.wish(account, node === ANY ? undefined : node)
    return answer
  },
  api: {
    example: { account: 'alpha', node: 'two' },
    note: 'of a fleet: the wish is kept until the next one; the node `any` ends it',
  },
  forms: {
    fleetMove: {
      title: 'Move {account}',
      effects: [
        'Its holder gives it back once the node waits for it. Only one account of a fleet moves at a time.',
        'The node keeps it, and gets it back after an outage. The word any ends that.',
      ],
      fields: [{ name: 'node', label: 'Node, or any' }],
      send: 'Move account',
      preview: 'first',
    },
  },
  cli: [
    {
      name: 'fleet move',
      summary: 'Move an account of a fleet to a node, and keep it there.',
      details:
        'Its holder gives it back once the node waits for it, and only one account of a fleet moves at a time. When that node dies another one takes\nthe account, and gives it back when the node is there again. The word any ends the wish.',
      positional: { name: 'ACCOUNT', doc: 'the account, as perpd fleet shows it', field: 'account' },
      more: [{ name: 'NODE', doc: 'the node, or any', field: 'node' }],
      flags: [{ name: 'dry-run', doc: 'only show what would change' }, json],
      examples: ['perpd fleet move alpha two', 'perpd fleet move alpha any'],
    },
  ],
}

async function effectOf(
  context: FleetContext,
  { account, node }: MoveAccountCommand,
): Promise<OperatorAnswer> {
  const rows = await context.read()
  const accounts = accountsOf(rows)
  const own = accounts.find(({ name }) => name === account)
  if (own === undefined) {
    const names = accounts.map(({ name }) => name).join(', ')
    const known = names === '' ? 'no daemon of this fleet runs' : `there are ${names}`
    return refusal('FLEET_ACCOUNT_UNKNOWN', `there is no account ${account}; ${known}`)
  }
  if (node === ANY) return done(`${account} may be held by any node; it stays where it is`)
  const to = nodeNamed(rows, node)
  if ('ok' in to) return to
  if (!to.can.includes(account)) {
    const able = own.nodes.length === 0 ? 'no node that lives can' : `${own.nodes.join(', ')} can`
    return refusal(
      'FLEET_NODE_UNABLE',
      `the node ${node} cannot hold ${account}: it could not open its key, or a fault keeps the account from it; ${able}`,
    )
  }
  const stays = `and stays there until it is moved to another node or to ${ANY}`
  if (own.node === node) return done(`${account} is at ${node}, ${stays}`)
  const goes = `${account} goes to ${node} as soon as ${node} waits for it, ${stays}`
  return done(isSilent(to) ? `${goes}. ${silenceText(to)}: until it is back nothing moves` : goes)
}

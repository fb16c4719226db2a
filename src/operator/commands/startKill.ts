/** Halts, and cancels orders that add risk; closes positions too if requested, and cancels exits of positions if requested. */
import { z } from 'zod'
import { byFlag, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { done } from '../operatorAnswer.ts'

const body = z.strictObject({ close: z.boolean().default(false), exits: z.boolean().exactOptional() })

/** The command. */
type KillCommand = CommandOf<'kill', typeof body>

/** Its row. */
export const startKill: CommandRow<KillCommand> = {
  type: 'kill',
  route: '/api/kill',
  body,
  async preview({ kill }, command) {
    return { ok: true, statement: 'nothing is done yet', killing: await kill.preview(wish(command)) }
  },
  async run({ kill }, command, { by }) {
    await kill.begin(by, wish(command))
    return done(killStatement(command))
  },
  api: {
    example: { close: true, exits: false },
    note: '`exits`: cancels the exits of positions too, at once; a preview answers with `killing`: `positions`, `orders` (`stays`: not cancelled now), `unlisted` (positions and orders that the journal, the chain or another host has and the list lacks, with `why`), `inFlight`',
  },
  forms: {
    kill: {
      title: 'Kill: halt and cancel',
      effects: ['{cancels}', '{leaves}'],
      fields: [
        {
          name: 'exits',
          label: 'Stop-losses and take-profits of what is held',
          value: 'stay',
          choices: [
            { value: 'stay', label: 'stay' },
            { value: 'cancelled', label: 'are cancelled too' },
          ],
        },
      ],
      body: { close: false },
      preview: 'meanwhile',
      send: 'Kill',
      typed: 'kill',
      isDanger: true,
    },
    killClose: {
      title: 'Kill: halt, cancel, and close everything',
      effects: ['{cancels}', '{leaves}'],
      body: { close: true },
      preview: 'meanwhile',
      send: 'Kill and close everything',
      typed: 'close everything',
      isDanger: true,
    },
  },
  cli: [
    {
      name: 'kill',
      isForRunning: true,
      summary:
        'Halt, cancel every order that adds risk and, if asked, close every position; reports until done.',
      details:
        'Stop-losses and take-profits of positions stay, from any source: with --close until the position is closed, else\npermanently. The report ends with the protection of each position. --exits cancels them at once too. At a terminal it shows\nits plan and asks, unless --yes is given; a script is not asked and needs no --yes.\nIt continues when this command is interrupted, and across restarts of the daemon. `perpd trading active` ends it.',
      flags: [
        { name: 'close', doc: 'close positions too' },
        { name: 'exits', doc: 'cancel stop-losses and take-profits of positions too, at once' },
        yesFlag,
        byFlag,
      ],
      examples: ['perpd kill --by ann', 'perpd kill --close', 'perpd kill --exits --yes'],
    },
  ],
}

function wish({ close, exits }: KillCommand) {
  return { close, ...(exits === true ? { exits } : {}) } as const
}

function killStatement({ close, exits }: KillCommand): string {
  if (close) return 'halted; perpd is cancelling resting orders and closing positions'
  return exits
    ? 'halted; perpd is cancelling every resting order, exits included'
    : 'halted; perpd is cancelling resting orders that add risk; exits of positions stay'
}

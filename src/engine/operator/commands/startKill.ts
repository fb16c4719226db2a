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
    note: '`exits`: exits of what is held go too, at once; a preview answers with `killing`: `positions`, `orders` (`stays`: it is not cancelled now), `unlisted` (positions and orders that the journal, the chain or another host knows and the list lacks, with `why`), `inFlight`',
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
        'Stop-losses and take-profits of what is held stay, whoever placed them: with --close until it is closed, else for good, and the end\nof its report says what protects what. --exits cancels them at once too. At a terminal it shows what it finds and does, and asks,\nunless --yes is given; a script is asked nothing and needs no --yes.\nIt continues when this command is interrupted, and over restarts of the daemon. `perpd trading active` ends it.',
      flags: [
        { name: 'close', doc: 'close positions too' },
        { name: 'exits', doc: 'cancel stop-losses and take-profits of what is held too, at once' },
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
  if (close) return 'halted; resting orders are being cancelled and positions closed'
  return exits
    ? 'halted; every resting order is being cancelled, exits too'
    : 'halted; resting orders that add risk are being cancelled, and exits of what is held stay'
}

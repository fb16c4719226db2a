/** Bodies of commands: what may stand in them, and the command each one is. Nothing that is not known is let through. */
import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { scopeOf } from '../domain/account/tradingState.ts'
import { logComponents, logLevels } from '../domain/logLevels.ts'
import type { OperatorCommand } from '../engine/operator/operatorCommand.ts'
import { by, commandId, decimal, direction, dollars, line, pool } from './bodyFields.ts'
import { bodyProblem } from './bodyProblem.ts'
import { startTaskBody, stopTaskBody } from './taskBodies.ts'

/** Longest body of a command, bytes. */
export const MAX_BODY_BYTES = 4_096

const switched = (to: 'paused' | 'running') =>
  z
    .strictObject({ reason: line(200).default('an operator says so'), by })
    .transform(({ reason, by: who }) => ({
      by: who,
      command: (strategy: string): OperatorCommand => ({ type: 'switch', strategy, to, reason }),
    }))

/** The command that a body makes; `id` is the discrepancy, the market or the order that its path names. */
const commands = {
  trading: z
    .strictObject({
      scope: line(120).default('global'),
      state: z.enum(['active', 'reducing', 'halted']),
      reason: line(200).default('an operator says so'),
      by,
    })
    .transform(({ scope, state, reason, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({ type: 'trading', scope: scopeOf(scope), state, reason }),
    })),
  kill: z
    .strictObject({
      close: z.boolean().default(false),
      exits: z.boolean().default(false),
      preview: z.boolean().default(false),
      by,
    })
    .transform(({ close, exits, preview, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'kill',
        close,
        ...(exits ? { exits } : {}),
        ...(preview ? { isPreview: preview } : {}),
      }),
    })),
  limits: z
    .strictObject({ confirm: z.boolean().default(false), preview: z.boolean().default(false), by })
    .refine(({ confirm, preview }) => !(confirm && preview), 'confirm or preview, not both')
    .transform(({ confirm, preview, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'limits',
        isConfirmed: confirm,
        ...(preview ? { isPreview: true } : {}),
      }),
    })),
  tighten: z
    .strictObject({ limit: line(60), value: line(60), preview: z.boolean().default(false), by })
    .transform(({ limit, value, preview, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'tighten',
        ...{ limit, value },
        ...(preview ? { isPreview: true } : {}),
      }),
    })),
  discrepancy: z.strictObject({ as: z.enum(['adopted', 'ignored']), by }).transform(({ as, by: who }) => ({
    by: who,
    command: (discrepancyId: string): OperatorCommand => ({ type: 'discrepancy', discrepancyId, as }),
  })),
  market: z.strictObject({ by }).transform(({ by: who }) => ({
    by: who,
    command: (market: string): OperatorCommand => ({ type: 'market', market }),
  })),
  unwind: z
    .strictObject({ reason: line(200).default('an operator says so'), by })
    .transform(({ reason, by: who }) => ({
      by: who,
      command: (intentId: string): OperatorCommand => ({ type: 'unwind', intentId, reason }),
    })),
  forget: z.strictObject({ by }).transform(({ by: who }) => ({
    by: who,
    command: (strategy: string): OperatorCommand => ({ type: 'forget', strategy }),
  })),
  reload: z
    .strictObject({ confirm: z.boolean().default(false), preview: z.boolean().default(false), by })
    .refine(({ confirm, preview }) => !(confirm && preview), 'confirm or preview, not both')
    .transform(({ confirm, preview, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'reload',
        isConfirmed: confirm,
        ...(preview ? { isPreview: true } : {}),
      }),
    })),
  'set-field': z
    .strictObject({
      field: line(120),
      value: line(200),
      was: line(200).optional(),
      confirm: z.boolean().default(false),
      preview: z.boolean().default(false),
      by,
    })
    .transform(({ field, value, was, confirm, preview, by: who }) => ({
      by: who,
      command: (strategy: string): OperatorCommand => ({
        type: 'set-field',
        ...{ strategy, field, value },
        ...defined({ was }),
        isConfirmed: confirm,
        ...(preview ? { isPreview: true } : {}),
      }),
    })),
  pause: switched('paused'),
  resume: switched('running'),
  open: z
    .strictObject({
      id: commandId,
      market: line(120),
      direction,
      size: dollars,
      leverage: decimal(4),
      collateral: pool.default('short'),
      limit: dollars.optional(),
      stop: dollars.optional(),
      takeProfit: dollars.optional(),
      stopLoss: dollars.optional(),
      preview: z.boolean().default(false),
      by,
    })
    .refine(({ limit, stop }) => limit === undefined || stop === undefined, 'limit or stop, not both')
    .transform(({ preview, by: who, limit, stop, takeProfit, stopLoss, ...rest }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'open',
        ...rest,
        ...defined({ limit, stop, takeProfit, stopLoss }),
        isPreview: preview,
      }),
    })),
  close: z
    .strictObject({
      id: commandId,
      market: line(120),
      direction,
      shareBps: z.number().int().min(1).max(10_000).default(10_000),
      collateral: pool.optional(),
      preview: z.boolean().default(false),
      by,
    })
    .transform(({ by: who, collateral, preview, ...rest }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'close',
        ...rest,
        ...(preview ? { isPreview: true } : {}),
        ...defined({ collateral }),
      }),
    })),
  cancel: z
    .strictObject({ id: commandId, preview: z.boolean().default(false), by })
    .transform(({ by: who, id, preview }) => ({
      by: who,
      command: (order: string): OperatorCommand => ({
        type: 'cancel',
        ...{ id, order },
        ...(preview ? { isPreview: true } : {}),
      }),
    })),
  log: z
    .strictObject({ component: z.enum(logComponents).optional(), level: z.enum(logLevels), by })
    .transform(({ component, level, by: who }) => ({
      by: who,
      command: (): OperatorCommand => ({
        type: 'log',
        ...defined({ component }),
        level,
      }),
    })),
  task: startTaskBody,
  'task-stop': stopTaskBody,
  resolve: z
    .strictObject({ as: z.enum(['dead', 'executed', 'cancelled']), by })
    .transform(({ as, by: who }) => ({
      by: who,
      command: (intentId: string): OperatorCommand => ({ type: 'resolve', intentId, as }),
    })),
} as const

/** Name of a route's command. */
export type Asked = keyof typeof commands

/** A command that was understood, and whose it is; or what is wrong with its body. */
export type Parsed =
  | { readonly ok: true; readonly command: OperatorCommand; readonly by: string }
  | { readonly ok: false; readonly problem: string }

/**
 * Reads the body of a command. `id` is the discrepancy or the order that its path names, whole or its first characters,
 * the market's symbol or address, or a strategy's name.
 */
export function parseCommand(type: Asked, body: unknown, id = ''): Parsed {
  const parsed = commands[type].safeParse(body, { reportInput: true })
  if (parsed.success) return { ok: true, command: parsed.data.command(id), by: parsed.data.by }
  return { ok: false, problem: parsed.error.issues.map(bodyProblem).join('; ') }
}

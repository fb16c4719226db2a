/** Tasks: how far each is, what it waits for, and its end. */
import type { VNode } from 'preact'
import { commandForms } from '../commandForms.ts'
import { formsAt } from '../formCommand.ts'
import { html, Meter, Section, useBounded, useMayCommand, usePage, useSlice } from '../markup.ts'
import { newCommandId } from '../newCommandId.ts'
import { startTaskCommand, stopTaskCommand } from '../pageCommands.ts'
import type { Status, Task } from '../pageWire.ts'
import { percentText, shareBps, usdText } from '../shownAmount.ts'
import { holds } from '../shownFigures.ts'
import { zonedText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { tasks: words } = texts
const firstRows = 8
const startedKinds = formsAt('tasks')

function TaskLine({ task }: { readonly task: Task }): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const {
    taskId,
    asked,
    sizeUsd,
    doneUsd,
    orders,
    feesUsd,
    exitOrders,
    exitFeesUsd,
    budget,
    standing,
    waits,
    outcome,
    statement,
  } = task
  const bps = shareBps(doneUsd, sizeUsd)
  const progress = words.progress(usdText(doneUsd), usdText(sizeUsd))
  return html`<li>
    <div class="line">
      <strong class="mono">${taskId}</strong>
      <span class=${standing === 'ended' ? 'muted' : ''}>${outcome ?? words.standing[standing]}</span>
      <span class="grow">${asked}</span>
      ${
        mayCommand && standing === 'running'
          ? html`<button aria-label=${words.stopLabel(taskId)} onClick=${() => command(stopTaskCommand(task))}>${words.stop}</button>`
          : ''
      }
    </div>
    <div class="line">
      <${Meter} bps=${bps} label=${`${percentText(bps)}: ${progress}`} />
      <span class="num">${percentText(bps)}</span>
      <span class="num">${progress}</span>
      <small>${words.budget(orders, budget.orders, usdText(feesUsd), usdText(budget.feesUsd))}</small>
      ${exitOrders === 0 ? '' : html`<small>${words.exits(exitOrders, usdText(exitFeesUsd))}</small>`}
      <small>${standing === 'ended' ? (statement ?? '') : words.until(zonedText(budget.untilMs))}</small>
    </div>
    ${waits === undefined || standing === 'ended' ? '' : html`<small class="warn">${words.waits(waits)}</small>`}
  </li>`
}

/** Tasks of other kinds that run, `1 unwind`. */
function othersOf(status: Status | undefined): string {
  const counts = Object.entries(status?.tasksRunning ?? {}).filter(
    ([kind, count]) => !(startedKinds as readonly string[]).includes(kind) && count > 0,
  )
  return counts.map(([kind, count]) => `${count} ${kind}`).join(', ')
}

/** The list. */
export function TasksView(): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const tasks = useSlice((state) => state.tasks)
  const status = useSlice((state) => state.status)
  const find = useSlice((state) => state.find)
  const found = tasks.filter(({ taskId, asked, by }) => holds(find, taskId, asked, by))
  const [shown, more, showMore] = useBounded(found, firstRows)
  const others = othersOf(status)
  const symbols = [
    ...new Set([
      ...Object.values(status?.symbols ?? {}),
      ...(status?.strategies.flatMap((strategy) => strategy.symbols) ?? []),
    ]),
  ]
  const tools = mayCommand
    ? startedKinds.map(
        (kind) =>
          html`<button key=${kind} onClick=${() => command(startTaskCommand(kind, symbols, newCommandId()))}>${commandForms[kind].button}</button>`,
      )
    : ''
  return html`<${Section} id="tasks" title=${texts.sections.tasks} count=${texts.shownOf(shown.length, tasks.length)} tools=${tools}>
    ${shown.length === 0 ? html`<p class="muted">${tasks.length === 0 ? words.none : texts.nothingFound}</p>` : ''}
    <ul class="rows">${shown.map((task) => html`<${TaskLine} key=${task.taskId} task=${task} />`)}</ul>
    ${others === '' ? '' : html`<p class="muted">${words.others(others)}</p>`}
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}
  <//>`
}

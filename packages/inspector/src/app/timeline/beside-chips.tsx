import type { Beside, Delivery } from '../../api/timeline.ts';
import { Icon } from '../parts/icon.tsx';
import { dateTime, plural, shortId } from '../parts/words.ts';

/** What stands beside the log of a task at present: who may write it, when it is due, how far its webhooks are. */
export function BesideChips({ beside: { lease, dueAt, deliveries } }: { readonly beside: Beside }) {
  return (
    <>
      {lease && (
        <span class="chip" title={lease.holder && `Held by ${lease.holder}`}>
          <Icon name="lease" />
          {lease.holder ? `Lease ${lease.fence}, held by ${shortId(lease.holder)}` : 'Waits for a process'}
        </span>
      )}
      {dueAt && (
        <span class="chip">
          <Icon name="deadline" />
          {`Due ${dateTime(dueAt)}`}
        </span>
      )}
      {deliveries.map((delivery) => (
        <span
          key={delivery.id}
          class={`chip ${delivery.dead || delivery.attempts > 0 ? 'chip-again' : ''}`}
          title={delivery.dead ?? delivery.url}
        >
          <Icon name="delivery" />
          {textOf(delivery)}
        </span>
      ))}
    </>
  );
}

function textOf({ url, cursor, attempts, retryAt, dead }: Delivery): string {
  const host = URL.parse(url)?.host || url;
  if (dead) return `Webhook ${host} given up`;
  if (attempts > 0)
    return `Webhook ${host} failed ${plural(attempts, 'time')}${retryAt ? `, again ${dateTime(retryAt)}` : ''}`;
  return `Webhook ${host} has entry ${cursor}`;
}

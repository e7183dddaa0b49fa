import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Loading } from './bits.tsx';

/** A page whose script is loaded when it is opened first: the page that is opened first stays small. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  let Page: ComponentType<Props> | undefined;
  return function Later(props: Props) {
    const [, draw] = useState(0);
    useEffect(() => {
      const loaded = (page: ComponentType<Props>) => {
        Page = page;
        draw(1);
      };
      // An error while drawing is shown as a problem of the page.
      const failed = (error: unknown) =>
        draw(() => {
          throw error;
        });
      if (!Page) load().then(loaded, failed);
    }, []);
    return Page ? <Page {...props} /> : <Loading what="Loading the page" />;
  };
}

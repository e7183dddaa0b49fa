/** Says whether its release opens a store: the identity of the data, or why not. */
import { mediumNamed, mediumOf } from '../chaos/medium.ts';

const [name = '', location = ''] = process.argv.slice(2);
try {
  const store = await mediumOf(mediumNamed(name) ?? 'sqlite').open(location);
  console.log(await store.identity());
} catch (error) {
  console.log(String(error));
}
process.exit();

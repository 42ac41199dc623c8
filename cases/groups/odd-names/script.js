import { group } from 'k6';
import exec from 'k6/execution';
export default function () {
  for (const name of ['', ' spaces ', 5, null, undefined, true, 'é']) console.log(group(name, () => exec.vu.tags.group));
}

import { SharedArray } from 'k6/data';
import { vu } from 'k6/execution';
const users = new SharedArray('users', () => open('./users.csv').trim().split('\n').slice(1).map((line) => { const [name, password] = line.split(','); return { name, password }; }));
export const options = { iterations: 3 };
export default function () {
  const user = users[vu.iterationInInstance % users.length];
  console.log(user.name, user.password);
}

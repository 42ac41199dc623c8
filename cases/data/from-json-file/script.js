import { SharedArray } from 'k6/data';
import { scenario } from 'k6/execution';
const users = new SharedArray('users', () => JSON.parse(open('./users.json')).users);
export const options = { scenarios: { each: { executor: 'shared-iterations', vus: 1, iterations: 3 } } };
export default function () {
  const user = users[scenario.iterationInTest];
  console.log(user.name, user.password.length, Object.isFrozen(user));
}

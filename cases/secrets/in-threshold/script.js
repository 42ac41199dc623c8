import secrets from 'k6/secrets';
import { Counter } from 'k6/metrics';
const value = await secrets.get('a');
const mine = new Counter('mine');
export const options = {
  thresholds: {
    [`mine{own:${value}}`]: ['count==1', `count<${value}`],
  },
};
export default function () {
  mine.add(1, { own: value });
}

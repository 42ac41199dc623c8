import { Counter } from 'k6/metrics';
const attempt = (what, body) => {
  try { console.log(what, String(body())); } catch (error) { console.log(what, 'threw', typeof error); }
};
const counter = new Counter('changed_counter');
export default function () {
  counter.extra = 1;
  attempt('name', () => { counter.name = 'other'; return counter.name; });
  attempt('delete', () => { delete counter.name; return counter.name; });
  console.log(counter.extra, Object.keys(counter).sort().join(), JSON.stringify(counter));
  console.log(counter.add(1));
  attempt('add', () => { counter.add = () => 'own'; return counter.add(1); });
}

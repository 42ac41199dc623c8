import { check, group, sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter } from 'k6/metrics';

const counter = new Counter('mine');

export const options = {
  iterations: 2,
  thresholds: { mine: ['count==2'], checks: ['rate==1'] },
};

export default function () {
  counter.add(1);
  check(1, { one: (value) => value === 1 });
}

export async function handleSummary(data) {
  const lines = [];
  const note = (name, value) => lines.push(`${name}: ${JSON.stringify(value)}`);
  const caught = (name, action) => {
    try {
      note(name, action());
    } catch (error) {
      note(name, `threw ${error.name}`);
    }
  };

  const posted = http.post(`${__ENV.BASE}/echo`, '{"a":1}');
  note('post', [posted.status, posted.request.body]);
  note('asyncRequest', (await http.asyncRequest('GET', `${__ENV.BASE}/status/404`)).status);
  note('batch', http.batch([`${__ENV.BASE}/status/200`, `${__ENV.BASE}/status/201`]).map((response) => response.status));
  note('refused', http.get('http://127.0.0.1:1/').error_code);
  note('check', check(5, { five: (value) => value === 5, six: (value) => value === 6 }));
  note('group', group('outer', () => exec.vu.metrics.tags.group));
  note('add', counter.add(10));
  note('sleep', sleep(0.01));
  note('cookies', http.cookieJar().cookiesForURL(`${__ENV.BASE}/`));
  note('tags', exec.vu.metrics.tags);
  note('numbers', [__VU, exec.vu.idInTest, exec.vu.idInInstance, exec.vu.iterationInInstance]);
  caught('scenario', () => exec.scenario.name);
  caught('instance', () => exec.instance.vusActive);
  caught('metric', () => new Counter('late'));
  note('results', [data.metrics.mine.values.count, data.metrics.checks.values.passes, data.root_group.checks.length]);
  return { stdout: `${lines.join('\n')}\n` };
}

import exec from 'k6/execution';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
function attempt(name, body) { try { console.log(name, JSON.stringify(body())); } catch (e) { console.log(name, 'threw', e.name); } }
export default function () {
  attempt('tags', () => { exec.vu.tags = { own: '1' }; return [exec.vu.tags.own, exec.vu.tags.scenario]; });
  attempt('metrics', () => { exec.vu.metrics = null; return Object.keys(exec.vu.metrics).sort(); });
  attempt('inner tags', () => { exec.vu.metrics.tags = { own: '1' }; return 'assigned'; });
  attempt('metadata', () => { exec.vu.metrics.metadata = { own: '1' }; return 'assigned'; });
  attempt('number', () => { exec.vu.idInTest = 7; return 'assigned'; });
  attempt('keys', () => Object.keys(exec.vu).sort());
  exec.vu.tags.kept = 'yes';
  exec.vu.tags = {};
  seen.add(1);
}

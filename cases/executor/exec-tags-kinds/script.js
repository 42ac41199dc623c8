import exec from 'k6/execution';
export default function () {
  const { tags, metadata } = exec.vu.metrics;
  for (const value of ['x', 5, true, null, undefined, {}, []]) {
    try { tags.t = value; console.log('tag', tags.t); } catch (e) { console.log('tag', e.name, e.message); }
    try { metadata.m = value; console.log('metadata', metadata.m); } catch (e) { console.log('metadata', e.name, e.message); }
  }
  console.log(exec.vu.tags.t, 't' in exec.vu.tags, delete exec.vu.tags.t, exec.vu.tags.t, exec.vu.tags.scenario, exec.vu.tags.nope);
  for (const assign of [() => { exec.vu.idInTest = 1; }, () => { exec.scenario.name = 'x'; }]) {
    try { assign(); console.log('assigned'); } catch (e) { console.log(e.name); }
  }
}

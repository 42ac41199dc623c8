import exec, { scenario, instance, test, vu } from 'k6/execution';
import * as all from 'k6/execution';
export default function () {
  console.log(Object.keys(all).sort().join(), scenario.name, instance.iterationsCompleted, vu.idInInstance, typeof test.abort, typeof test.fail);
  console.log(Object.keys(scenario).sort().join(), Object.keys(instance).sort().join(), Object.keys(vu).sort().join(), Object.keys(test).sort().join());
  for (const [object, name] of [[scenario, 'name'], [vu, 'idInTest'], [instance, 'vusActive']]) { try { object[name] = 9; console.log(name, object[name]); } catch (e) { console.log(name, 'threw', e.name); } }
}

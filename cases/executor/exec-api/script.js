import exec from 'k6/execution';
export const options = { scenarios: { only: { executor: 'shared-iterations', vus: 1, iterations: 2 } } };
export default function () {
  const { scenario, instance, test, vu } = exec;
  console.log(scenario.name, scenario.executor, scenario.iterationInInstance, scenario.iterationInTest, typeof scenario.startTime, scenario.progress);
  console.log(instance.vusActive, instance.vusInitialized, instance.iterationsCompleted, instance.iterationsInterrupted, instance.currentTestRunDuration > 0);
  console.log(vu.idInInstance, vu.idInTest, vu.iterationInInstance, vu.iterationInScenario);
  console.log(Object.entries(vu.metrics.tags).sort().join(';'), JSON.stringify(vu.metrics.metadata), Object.keys(vu.tags).sort().join());
  console.log(Object.keys(exec).sort().join(), typeof test.abort);
}

import exec from 'k6/execution';
for (const [name, read] of Object.entries({
  scenario: () => exec.scenario.name, vu: () => exec.vu.idInTest, instance: () => exec.instance.vusActive, options: () => exec.test.options.vus,
})) {
  try { console.log(name, read()); } catch (e) { console.log(name, String(e.message || e)); }
}
export default function () {}

export default function () {
  for (const name of ['log', 'debug', 'info', 'warn', 'error', 'trace', 'table', 'assert', 'time', 'timeEnd', 'group', 'dir', 'count', 'clear']) console.log(name, typeof console[name]);
  const { warn } = console;
  warn('without its object');
  console.info('information');
}

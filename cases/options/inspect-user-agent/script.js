export const options = { userAgent: '', httpDebug: 'full', consoleOutput: 'x.log' };
export default function () {}

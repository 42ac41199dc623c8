export const options = { noConnectionReuse: 'true' };
export default function () {}

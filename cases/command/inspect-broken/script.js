throw new Error('broken');
export default function () {}

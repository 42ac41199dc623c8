export const options = { executionSegment: '0:1/3', executionSegmentSequence: '0,1/4,1/2,1' };
export default function () {}

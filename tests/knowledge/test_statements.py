from spl.knowledge.statements import Monotone, Range


def test_statements_with_the_same_content_are_equal():
    region = (Range("p", 0.0, 3.0),)
    one, other = (Monotone("increasing in T", column="T", sign=1, region=region) for _ in range(2))
    assert one == other
    assert one != Monotone("increasing in T", column="T", sign=1)

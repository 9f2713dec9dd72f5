"""The gate for continuous integration: a check of a run against a baseline, and the files it leaves behind."""

from tiltmeter.views.gating.gate import Check, Verdict, check
from tiltmeter.views.gating.junit import junit_xml
from tiltmeter.views.gating.policy import Policy, Rule, load_policy
from tiltmeter.views.gating.summary import summary_markdown

__all__ = ["Check", "Policy", "Rule", "Verdict", "check", "junit_xml", "load_policy", "summary_markdown"]
